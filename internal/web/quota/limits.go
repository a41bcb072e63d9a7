// Package quota limits the requests, connections, WebSockets, log streams, CPU time and memory that clients of a
// server use. Each limit applies to an address, a user, a share link, or all clients together.
package quota

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

const (
	// maxRequestTarget is the maximum length of a request path with its query, in bytes.
	maxRequestTarget = 16 << 10
	maxFields        = 100 // Header fields per request.
	// MaxStreams is the maximum number of streams of one HTTP/2 connection.
	MaxStreams = 100
	// addressRequests is the maximum number of concurrent requests from one IP address. WebSockets do not count.
	addressRequests = 1000
	// maxBodies is the maximum number of concurrent request bodies, so that slow uploads cannot block other requests.
	maxBodies     = 400
	addressBodies = 50
	// maxRequests is the maximum number of concurrent requests of all identified clients. All other clients together
	// have the same maximum.
	maxRequests = 4096
	// An eighth of the memory limit is for requests of identified clients, and another eighth for all other requests.
	requestMemoryDivisor = 8
	// requestMemory is the estimated memory of one waiting request, in bytes. It was measured with request headers of
	// 29.5 KB.
	requestMemory = 64 << 10
	// minRequests is the lower bound for the limit on concurrent requests, however small the memory limit is.
	minRequests = 256
	// maxRateWaiters is the maximum number of requests that wait for the rate limit of their IP address.
	maxRateWaiters = 1000
	// addressSockets limits the WebSockets of one IP address, and viewerSockets those of one user. Each browser tab
	// opens one WebSocket.
	addressSockets, viewerSockets = 2000, 500
	maxSockets                    = 5000
	// linkSockets limits the WebSockets of one share link. guestSockets limits those of all share links together, so that
	// some of maxSockets remain for users.
	linkSockets, guestSockets = 2000, 4000
	// SocketSubscriptions is the number of subscriptions for each allowed WebSocket. For example, all WebSockets of a
	// user together can have 6 times viewerSockets subscriptions.
	SocketSubscriptions = 6
	// viewerLogs, linkLogs and guestLogs limit the followed logs: of one user, of one share link, and of all share links.
	viewerLogs, linkLogs, guestLogs = 25, 25, 50
	maxLogs                         = 100
	// messageRate limits the messages per second from one WebSocket. messageBurst is how many it can send at once. If a
	// client sends faster, the server reads its messages later.
	messageRate, messageBurst = 20, 200
	// frameRate limits the frames from one WebSocket, in frames per second. Unlike messageRate, it also counts control
	// frames and the fragments of messages.
	frameRate, frameBurst = 200, 2000
	// addressFrames limits the frames per second from one address. The burst lets a thousand tabs reconnect at once.
	addressFrames, addressFrameBurst = 2000, 20_000
	// addressRate limits the sum of requests, connections and messages per second from one address. The burst lets a
	// thousand tabs reconnect at once.
	addressRate, addressBurst = 250, 4000
	// In the rate limit, an oversized request counts as oversizedCost requests, because reading it is wasted work.
	oversizedCost = 10
)

// Limits contains the limits of one server, and counts their current use.
type Limits struct {
	Limiter limit.Limiter
	Budget  *limit.Budget

	peers        listen.Peers
	memoryLimit  int64
	addressRates *limit.Rates
	frameRates   *limit.Rates
	openSockets  atomic.Int64
}

// New returns the limits of a server behind trusted proxies. The parameter memoryLimit is in bytes; 0 means no limit.
func New(trusted listen.Peers, memoryLimit int64) *Limits {
	return &Limits{
		Budget: limit.NewBudget(responseMemory(memoryLimit)), peers: trusted, memoryLimit: memoryLimit,
		addressRates: limit.NewRates(addressRate, addressBurst),
		frameRates:   limit.NewRates(addressFrames, addressFrameBurst),
	}
}

// Listen limits the number and rate of new connections of a listener.
func (q *Limits) Listen(listener net.Listener) net.Listener {
	return listen.New(listener, q.addressRates, q.peers)
}

// OpenSockets returns the number of open WebSockets.
func (q *Limits) OpenSockets() int { return int(q.openSockets.Load()) }

// Processors returns the limits on concurrent work that keeps a processor busy. A caller with a lease of these limits
// must not wait for a client or the API server.
func (q *Limits) Processors(r *http.Request) []limit.Limit {
	caller, processors := q.CallerOf(r), int64(runtime.GOMAXPROCS(0))
	return []limit.Limit{
		{Key: "builds of " + cmp.Or(caller.Group, caller.Key), Max: max(1, processors/2)},
		{Key: "builds", Max: max(1, processors-1)},
	}
}

// CallerOf returns the caller whose limits a request counts toward: a guest, a user, or else an IP address.
func (q *Limits) CallerOf(r *http.Request) limit.Caller {
	addressCaller := ""
	if address, known := q.peers.ClientAddr(r); known {
		addressCaller = "address " + listen.AddressKey(address)
	}
	guest, user := request.GuestOf(r), request.IdentityOf(r).Viewer.User
	switch {
	case guest != nil:
		return limit.Caller{Key: "share " + guest.Share.ID + " " + addressCaller, Group: "share " + guest.Share.ID}
	case user != nil:
		return limit.Caller{Key: "user " + user.Name}
	}
	if !request.IsIdentified(r) {
		return limit.Caller{Key: addressCaller, Group: "not logged in"}
	}
	return limit.Caller{Key: addressCaller}
}

// Acquire counts one use toward each limit. If a limit is reached, it waits up to listen.AddressWait, and then fails.
func (q *Limits) Acquire(ctx context.Context, limits ...limit.Limit) (*limit.Lease, error) {
	waitCtx, cancel := context.WithTimeout(ctx, listen.AddressWait)
	defer cancel()
	lease, err := q.Limiter.Acquire(waitCtx, 1, limits...)
	if err != nil && ctx.Err() == nil {
		return nil, &request.Problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests,
			Detail: fmt.Sprintf(
				"Too many requests of this kind are in progress; your limit is %d. Wait until one of them finishes.",
				limits[0].Max),
		}
	}
	return lease, err
}

// responseMemory returns the memory budget of all responses, in bytes. limit is --memory-limit in bytes, 0 for none.
func responseMemory(limit int64) int64 {
	const least, most = 8 << 20, 256 << 20
	if limit == 0 {
		return most
	}
	return min(max(limit/8, least), most)
}
