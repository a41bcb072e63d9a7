// Package quota limits what clients of a server use at the same time and in a second: requests, connections, sockets,
// logs, processors and memory. Each limit applies to an address, a user, a share link, or all clients together.
package quota

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"

	"glasshouse/internal/limit"
	"glasshouse/internal/web/listen"
	"glasshouse/internal/web/request"
)

// These limits apply to what clients send, and to what they keep open.
const (
	// maxRequestTarget is the maximum length of a request path with its query, in bytes.
	maxRequestTarget = 16 << 10
	maxFields        = 100 // Maximum number of header fields of one request.
	MaxStreams       = 100 // Maximum number of streams of one HTTP/2 connection.
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
	// maxSockets is the maximum number of open WebSockets of all clients together.
	maxSockets = 5000
	// linkSockets is the maximum number of WebSockets of all guests of one share link. guestSockets is the maximum for
	// the guests of all links, to leave capacity for users.
	linkSockets, guestSockets = 2000, 4000
	// SocketSubscriptions is the number of subscriptions of a caller (a user, link or address) for each WebSocket that
	// it is allowed to open. A single WebSocket can use more, because all WebSockets of the caller share the total.
	SocketSubscriptions = 6
	// viewerLogs is the maximum number of logs that one user follows at the same time. linkLogs is the maximum for all
	// guests of one share link, and guestLogs for the guests of all links. These limits leave capacity for other
	// callers.
	viewerLogs, linkLogs, guestLogs = 25, 25, 50
	// maxLogs is the maximum number of logs that all callers together read at the same time.
	maxLogs = 100
	// messageRate is the maximum number of messages per second from one WebSocket, and messageBurst the maximum burst.
	// The server reads further messages later.
	messageRate, messageBurst = 20, 200
	// frameRate is the maximum number of WebSocket frames per second from one socket, and frameBurst the maximum burst.
	// Control frames and the fragments of a message count as well. Frames are counted in the raw bytes, because the
	// WebSocket library hides control frames and fragments.
	frameRate, frameBurst = 200, 2000
	// addressFrames is the frame rate of all sockets of one IP address together, and addressFrameBurst the maximum
	// burst. The burst is large, because a thousand tabs can reconnect at once, and each tab sends a pong for each
	// chunk.
	addressFrames, addressFrameBurst = 2000, 20_000
	// addressRate is the maximum number of requests, new connections and WebSocket messages per second from one IP
	// address. addressBurst is the maximum burst. It is large, because a thousand tabs can reconnect at once.
	addressRate, addressBurst = 250, 4000
	// oversizedCost is how many requests an oversized request counts as, in the rate limit of its IP address. The cost
	// is high, because reading an oversized request is wasted work.
	oversizedCost = 10
)

// Limits are the limits of a server on the clients that use it.
type Limits struct {
	Limiter limit.Limiter // Counts requests, sockets, subscriptions, logs and scans in use.
	Budget  *limit.Budget // Memory that all responses share.

	peers        listen.Peers
	memoryLimit  int64        // In bytes; 0 means no limit.
	addressRates *limit.Rates // Rate limits for the requests and messages of one address.
	frameRates   *limit.Rates // Rate limits for the frames of all sockets of one address.
	openSockets  atomic.Int64
}

// New returns the limits of a server. trusted are the proxies that send the addresses of clients. memoryLimit is
// the memory limit of the program in bytes; 0 means no limit.
func New(trusted listen.Peers, memoryLimit int64) *Limits {
	return &Limits{
		Budget: limit.NewBudget(responseMemory(memoryLimit)), peers: trusted, memoryLimit: memoryLimit,
		addressRates: limit.NewRates(addressRate, addressBurst),
		frameRates:   limit.NewRates(addressFrames, addressFrameBurst),
	}
}

// Listen limits the connections of a listener.
func (q *Limits) Listen(listener net.Listener) net.Listener {
	return listen.New(listener, q.addressRates, q.peers)
}

// OpenSockets returns the number of open WebSockets.
func (q *Limits) OpenSockets() int { return int(q.openSockets.Load()) }

// Processors returns the limits on the concurrent work that keeps a processor busy: scanning all rows of a resource,
// encoding and compressing a response, or converting a long text. One caller, or all guests of one link, can use half
// of the processors. All requests together can use all processors but one, which is left for the WebSockets. Such work
// must not wait for a client or the API server.
func (q *Limits) Processors(r *http.Request) []limit.Limit {
	caller, processors := q.CallerOf(r), int64(runtime.GOMAXPROCS(0))
	return []limit.Limit{
		{Key: "builds of " + cmp.Or(caller.Group, caller.Key), Max: max(1, processors/2)},
		{Key: "builds", Max: max(1, processors-1)},
	}
}

// CallerOf returns the caller to whom the memory and processor time of a request are charged. The caller is a guest
// (a share link with an IP address), a user, or else an IP address.
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

// Acquire acquires one unit of each limit. It waits up to AddressWait for free units.
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

// responseMemory returns the memory budget of all responses, in bytes. It is an eighth of limit (the memory limit of
// the process), but at least 8 MiB and at most 256 MiB. Watched objects and the headroom of the garbage collector use
// the rest of the limit; see watch.Options.
func responseMemory(limit int64) int64 {
	const least, most = 8 << 20, 256 << 20
	if limit == 0 {
		return most
	}
	return min(max(limit/8, least), most)
}
