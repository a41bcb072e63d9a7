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

// These limits apply to what clients send, and to what they keep open.
const (
	// maxRequestTarget is the maximum length of a request path with its query, in bytes.
	maxRequestTarget = 16 << 10
	maxFields        = 100 // Maximum number of header fields of one request.
	maxBody          = 64 << 10
	maxStreams       = 100 // Maximum number of streams of one HTTP/2 connection.
	// addressRequests is the maximum number of concurrent requests of one IP address, without WebSockets.
	addressRequests = 1000
	// maxBodies is the maximum number of request bodies that are read at the same time, and addressBodies the maximum
	// for one IP address. With a memory limit, maxBodies is at most a quarter of maxInFlight, and addressBodies at most
	// an eighth of that quarter. Clients that never complete their bodies therefore cannot block other requests.
	maxBodies, addressBodies = 400, 50
	// maxRequests is the maximum number of concurrent requests of all clients that are not identified yet. The same
	// maximum applies to all identified clients (users and guests). With a memory limit, each of these two groups gets
	// 1/requestMemoryDivisor of the memory, at requestMemory bytes per request. The maximum is never below minRequests.
	maxRequests, minRequests, requestMemoryDivisor, requestMemory = 4096, 256, 8, 64 << 10
	// maxRateWaiters is the maximum number of requests that wait for the rate limit of their IP address. With a memory
	// limit, it is at most a quarter of maxInFlight. Half of the waiting requests can be from one address.
	maxRateWaiters = 1000
	// addressSockets is the maximum number of WebSockets of one IP address, and viewerSockets that of one user. Each
	// browser tab has one WebSocket.
	addressSockets, viewerSockets = 2000, 500
	// linkSockets is the maximum number of WebSockets of all guests of one share link. guestSockets is the maximum for
	// the guests of all links, to leave capacity for users.
	linkSockets, guestSockets = 2000, 4000
	// socketSubscriptions is the number of subscriptions of a caller (a user, link or address) for each WebSocket that
	// it is allowed to open. A single WebSocket can use more, because all WebSockets of the caller share the total.
	socketSubscriptions = 6
	// viewerLogs is the maximum number of logs that one user follows at the same time. linkLogs is the maximum for all
	// guests of one share link, and guestLogs for the guests of all links. These limits leave capacity for other
	// callers.
	viewerLogs, linkLogs, guestLogs = 25, 25, 50
	// messageRate is the maximum number of messages per second from one WebSocket, and messageBurst the maximum burst.
	// The server reads further messages later.
	messageRate, messageBurst = 20, 200
	// addressRate is the maximum number of requests, new connections and WebSocket messages per second from one IP
	// address. addressBurst is the maximum burst. It is large, because a thousand tabs can reconnect at once.
	addressRate, addressBurst = 250, 4000
	// oversizedCost is how many requests an oversized request counts as, in the rate limit of its IP address. The cost
	// is high, because reading an oversized request is wasted work.
	oversizedCost = 10
	// addressWait is the maximum time that a request waits for the rate limit of its IP address, or for a free unit of
	// a limit.
	addressWait = 10 * time.Second
)

// processorLimits limits the concurrent work that keeps a processor busy: scanning all rows of a resource, encoding
// and compressing a response, or converting a long text. One caller, or all guests of one link, can use half of the
// processors. All requests together can use all processors but one, which is left for the WebSockets. Such work must
// not wait for a client or the API server.
func (s *Server) processorLimits(r *http.Request) []limit.Limit {
	caller, processors := s.callerOf(r), int64(runtime.GOMAXPROCS(0))
	return []limit.Limit{
		{Key: "builds of " + cmp.Or(caller.Group, caller.Key), Max: max(1, processors/2)},
		{Key: "builds", Max: max(1, processors-1)},
	}
}

// acquireProcessor waits until processorLimits allow work that keeps a processor busy. The caller must call done
// after the work.
func (s *Server) acquireProcessor(ctx context.Context, r *http.Request) (done func(), err error) {
	if out := responseOf(r); out != nil && out.buildLease != nil {
		// The response already has a lease for all work of building it.
		return func() {}, nil
	}
	lease, err := s.acquire(ctx, s.processorLimits(r)...)
	return lease.Release, err
}

// rateLimitersFor returns the rate limiters of a new WebSocket: its own limiter, and the limiter that all WebSockets
// of its IP address share.
func (s *Server) rateLimitersFor(r *http.Request, own *rate.Limiter, addresses *limit.Rates) []*rate.Limiter {
	if address, known := s.peers.clientAddr(r); known {
		return []*rate.Limiter{own, addresses.For(addressKey(address))}
	}
	return []*rate.Limiter{own}
}

// waitForRate waits until the rate limits allow one more message of the client. It returns an error if the session
// ends.
func (l *session) waitForRate(ctx context.Context) error {
	for _, limiter := range l.limiters {
		if err := limiter.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fanOutSize returns the number of open WebSockets that share a limit: the highest number among the given limits of
// an address, user or link. WithFanOut uses it to send batches less often to many WebSockets, which leaves processor
// time for others. If no other WebSockets are open, fanOutSize returns 0.
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

// socketQuotas returns the limits for a new WebSocket: the limit of its IP address, and those of its user or share
// link. Without a login, only the address is known.
func (s *Server) socketQuotas(r *http.Request) []limit.Limit {
	var quotas []limit.Limit
	if address, known := s.peers.clientAddr(r); known {
		quotas = append(quotas, limit.Limit{Key: "sockets of " + addressKey(address), Max: addressSockets})
	}
	return append(quotas, quotasFor("sockets", guestOf(r), identityOf(r), linkSockets, guestSockets, viewerSockets)...)
}

// subscriptionQuotas derives the limits for the subscriptions of a WebSocket from the limits for the WebSocket
// itself.
func subscriptionQuotas(socket []limit.Limit) []limit.Limit {
	quotas := make([]limit.Limit, len(socket))
	for i, q := range socket {
		quotas[i] = limit.Limit{Key: "subscriptions by " + q.Key, Max: q.Max * socketSubscriptions}
	}
	return quotas
}

// quotasFor returns the limits of a guest or user for a unit, which is "sockets" or "logs". The keys of the limits
// contain the unit.
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

// callerOf returns the caller to whom the memory and processor time of a request are charged. The caller is a guest
// (a share link with an IP address), a user, or else an IP address.
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

// acquire acquires one unit of each limit. It waits up to addressWait for free units.
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
