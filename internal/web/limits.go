package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/time/rate"

	"glasshouse/internal/limit"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

// Limits on what clients can send or keep open.
const (
	// maxRequestTarget is the maximum length of a path with its query, in bytes.
	maxRequestTarget = 16 << 10
	maxFields        = 100 // Maximum number of header fields of one request.
	maxBody          = 64 << 10
	maxStreams       = 100 // Maximum number of streams of one HTTP/2 connection.
	// addressRequests is the maximum number of requests in flight of one address. Sockets do not count.
	addressRequests = 1000
	// maxBodies is how many request bodies may be read at a time, and addressBodies how many of one address. With a
	// memory limit, all addresses together may read at most a quarter of maxInFlight bodies, so that unfinished bodies
	// leave room for other requests. One address may then read at most an eighth of that quarter.
	maxBodies, addressBodies = 400, 50
	// maxRequests is the maximum number of requests in flight of all clients that are not identified yet. The same
	// maximum applies to all identified clients together. With a memory limit, each of these two groups may use an
	// eighth of the memory (requestMemoryDivisor), with requestMemory bytes per request. At least minRequests are always
	// allowed.
	maxRequests, minRequests, requestMemoryDivisor, requestMemory = 4096, 256, 8, 64 << 10
	// maxRateWaiters is how many requests of all addresses may wait for the rate limit of their address. With a memory
	// limit, at most a quarter of maxInFlight may wait. Half of the waiting requests may be of one address.
	maxRateWaiters = 1000
	// addressSockets is the maximum number of sockets of one address, and viewerSockets that of one user (one per tab).
	addressSockets, viewerSockets = 2000, 500
	// linkSockets is the maximum number of sockets of the guests of one link, and guestSockets that of all guests
	// together. These limits leave room for logged-in users.
	linkSockets, guestSockets = 2000, 4000
	// socketSubscriptions is how many subscriptions a caller may have for each socket that it may open. All sockets of
	// the caller share the total, so a single socket may have more subscriptions.
	socketSubscriptions = 6
	// viewerLogs is how many logs one user may follow at a time. linkLogs is the same limit for the guests of one link,
	// and guestLogs for the guests of all links together. These limits leave capacity for other callers.
	viewerLogs, linkLogs, guestLogs = 25, 25, 50
	// messageRate is how many messages per second a socket may send, after messageBurst messages at once. Further
	// messages wait.
	messageRate, messageBurst = 20, 200
	// addressRate is how many requests, connections and socket messages per second one address may send, after
	// addressBurst at once. The burst is large because a thousand tabs may reconnect together.
	addressRate, addressBurst = 250, 4000
	// An oversized request counts as oversizedCost requests for the rate limit of its address, because reading it was
	// wasted work.
	oversizedCost = 10
	// addressWait is how long a request may wait for the rate limit of its address, or for a lease.
	addressWait = 10 * time.Second
)

// processorLimits returns the limits on work that keeps a processor busy for a request. Such work is a scan of all
// rows of a resource, the encoding and compression of a response, or the conversion of a long text. One caller, or
// all guests of a link, may use half of the processors at a time. All requests together leave one processor to the
// sockets. Work under these limits waits neither for a client nor for the API server.
func (s *Server) processorLimits(r *http.Request) []limit.Limit {
	caller, processors := s.callerOf(r), int64(runtime.GOMAXPROCS(0))
	return []limit.Limit{
		{Key: "builds of " + cmp.Or(caller.Group, caller.Key), Max: max(1, processors/2)},
		{Key: "builds", Max: max(1, processors-1)},
	}
}

// acquireProcessor waits for a lease under processorLimits, for work that keeps a processor busy. The caller must
// call done when the work is finished.
func (s *Server) acquireProcessor(ctx context.Context, r *http.Request) (done func(), err error) {
	if out := responseOf(r); out != nil && out.buildLease != nil {
		// The work is part of building a response, which has a lease already.
		return func() {}, nil
	}
	lease, err := s.acquire(ctx, s.processorLimits(r)...)
	return lease.Release, err
}

// rateLimitersFor returns the rate limiters of a new socket: its own limiter, and the one that all sockets of its
// address share.
func (s *Server) rateLimitersFor(r *http.Request, own *rate.Limiter, addresses *limit.Rates) []*rate.Limiter {
	if address, known := s.peers.clientAddr(r); known {
		return []*rate.Limiter{own, addresses.For(addressKey(address))}
	}
	return []*rate.Limiter{own}
}

// waitForRate waits until the rate limits allow the session to handle one more message of the client. It returns an
// error if the session has ended.
func (l *session) waitForRate(ctx context.Context) error {
	for _, limiter := range l.limiters {
		if err := limiter.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fanOutSize returns the highest number of open sockets under one of limits, which are those of an address, a user or
// a link. WithFanOut uses this number to leave processor time for other sockets. fanOutSize returns 0 if the number
// includes all open sockets, because there are then no other sockets.
func (s *Server) fanOutSize(limits []limit.Limit) int {
	var maxUsed int64
	for _, l := range limits {
		maxUsed = max(maxUsed, s.limiter.Used(l.Key))
	}
	if maxUsed < s.openSockets.Load() {
		return int(maxUsed)
	}
	return 0
}

// socketQuotas returns the limits that a socket counts toward: those of its address, and of its user or link. On a
// server without a login, only the address is known.
func (s *Server) socketQuotas(r *http.Request) []limit.Limit {
	var quotas []limit.Limit
	if address, known := s.peers.clientAddr(r); known {
		quotas = append(quotas, limit.Limit{Key: "sockets of " + addressKey(address), Max: addressSockets})
	}
	return append(quotas, quotasFor("sockets", guestOf(r), identityOf(r), linkSockets, guestSockets, viewerSockets)...)
}

// subscriptionQuotas returns the limits that each subscription of a socket counts toward, derived from the limits of
// the socket.
func subscriptionQuotas(socket []limit.Limit) []limit.Limit {
	quotas := make([]limit.Limit, len(socket))
	for i, q := range socket {
		quotas[i] = limit.Limit{Key: "subscriptions by " + q.Key, Max: q.Max * socketSubscriptions}
	}
	return quotas
}

// quotasFor returns the limits that the sockets or logs of a guest or user count toward. unit is "sockets" or "logs",
// and is part of the keys.
func quotasFor(
	unit string, guest *share.Guest, identity auth.Identity, maxLink, maxGuests, maxUser int64,
) []limit.Limit {
	switch user := identity.Viewer.User; {
	case guest != nil:
		return []limit.Limit{
			{Key: unit + " of the share " + guest.Share.ID, Max: maxLink}, {Key: unit + " of guests", Max: maxGuests},
		}
	case user != nil:
		return []limit.Limit{{Key: unit + " of the user " + user.Name, Max: maxUser}}
	}
	return nil
}

// callerOf returns the caller that a request counts toward in the limits on memory and processors. The caller is a
// guest of a link at one address, a user, or else an address.
func (s *Server) callerOf(r *http.Request) limit.Caller {
	addressCaller := ""
	if address, known := s.peers.clientAddr(r); known {
		addressCaller = "address " + addressKey(address)
	}
	guest, user := guestOf(r), identityOf(r).Viewer.User
	switch {
	case guest != nil:
		return limit.Caller{Key: "share " + guest.Share.ID + " " + addressCaller, Group: "share " + guest.Share.ID}
	case user != nil:
		return limit.Caller{Key: "user " + user.Name}
	}
	if !isIdentified(r) {
		return limit.Caller{Key: addressCaller, Group: "not logged in"}
	}
	return limit.Caller{Key: addressCaller}
}

// acquire waits for a lease of one unit under the limits, but at most for addressWait.
func (s *Server) acquire(ctx context.Context, limits ...limit.Limit) (*limit.Lease, error) {
	waitCtx, cancel := context.WithTimeout(ctx, addressWait)
	defer cancel()
	lease, err := s.limiter.Acquire(waitCtx, 1, limits...)
	if err != nil && ctx.Err() == nil {
		return nil, &problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests,
			Detail: fmt.Sprintf(
				"Too many requests of this kind are in progress; your limit is %d. Wait until one of them finishes.",
				limits[0].Max),
		}
	}
	return lease, err
}
