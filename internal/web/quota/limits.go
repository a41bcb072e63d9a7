// Package quota limits how much clients of a server use at the same time and per second: requests, connections,
// WebSockets, logs, processors and memory. Each limit applies to an address, a user, a share link, or all clients
// together.
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

const (
	// maxRequestTarget is the maximum length of a request path with its query, in bytes.
	maxRequestTarget = 16 << 10
	maxFields        = 100 // Maximum number of header fields of one request.
	// MaxStreams is the maximum number of streams of one HTTP/2 connection.
	MaxStreams = 100
	// addressRequests is the maximum number of concurrent requests of one IP address, without WebSockets. This is the
	// value without a memory limit; with one, it is at most a quarter of maxInFlight.
	addressRequests = 1000
	// maxBodies is the maximum number of request bodies that are read at the same time, without a memory limit. With a
	// memory limit, the maximum is at most a quarter of the result of maxInFlight. Clients that never complete their
	// bodies therefore cannot block other requests.
	maxBodies = 400
	// addressBodies is the maximum number of request bodies of one IP address that are read at the same time, without a
	// memory limit. With a memory limit, the maximum is at most 1/32 of the result of maxInFlight.
	addressBodies = 50
	// maxRequests is the maximum number of concurrent requests of each of two groups of clients, without a memory
	// limit. One group is all users and guests. The other group is all clients that are not identified, or not yet.
	maxRequests = 4096
	// requestMemoryDivisor limits the memory for concurrent requests, if there is a memory limit. Each of the two groups
	// of clients (see maxRequests) can use 1/requestMemoryDivisor of the memory limit.
	requestMemoryDivisor = 8
	// requestMemory is the memory that one request is assumed to use, in bytes. See maxInFlight for a measurement.
	requestMemory = 64 << 10
	// minRequests is the minimum number of concurrent requests of each group (see maxRequests), however small the memory
	// limit is.
	minRequests = 256
	// maxRateWaiters is the maximum number of requests that wait for the rate limit of their IP address. With a memory
	// limit, it is at most a quarter of maxInFlight. Half of the waiting requests can be from one address.
	maxRateWaiters = 1000
	// addressSockets is the maximum number of WebSockets of one IP address, and viewerSockets the maximum for one
	// user. Each browser tab has one WebSocket.
	addressSockets, viewerSockets = 2000, 500
	// maxSockets is the maximum number of open WebSockets of all clients together.
	maxSockets = 5000
	// linkSockets is the maximum number of WebSockets of all guests of one share link. guestSockets is the maximum for
	// the guests of all links, to leave capacity for users.
	linkSockets, guestSockets = 2000, 4000
	// SocketSubscriptions is the number of subscriptions per WebSocket that a caller (a user, link or address) is
	// allowed to open. A single WebSocket can have more subscriptions, because all WebSockets of the caller share the
	// total.
	SocketSubscriptions = 6
	// viewerLogs is the maximum number of logs that one user follows at the same time. linkLogs is the maximum for
	// all guests of one share link, and guestLogs for the guests of all links. These limits are lower than maxLogs,
	// to leave capacity for others.
	viewerLogs, linkLogs, guestLogs = 25, 25, 50
	// maxLogs is the maximum number of logs that all clients together read at the same time.
	maxLogs = 100
	// messageRate is the maximum number of messages per second from one WebSocket, and messageBurst the maximum
	// burst. Faster messages are not refused: the server reads them later.
	messageRate, messageBurst = 20, 200
	// frameRate is the maximum number of WebSocket frames per second from one WebSocket, and frameBurst the maximum
	// burst. Control frames and the fragments of a message count as well. Frames are counted in the raw bytes,
	// because the WebSocket library hides control frames and fragments.
	frameRate, frameBurst = 200, 2000
	// addressFrames is the maximum number of frames per second of all WebSockets of one IP address together, and
	// addressFrameBurst the maximum burst. The burst is large, because a thousand tabs can reconnect at once, and
	// each tab sends a pong for each chunk of a long message.
	addressFrames, addressFrameBurst = 2000, 20_000
	// addressRate is the maximum number of requests, new connections and WebSocket messages per second from one IP
	// address. addressBurst is the maximum burst. It is large, because a thousand tabs can reconnect at once.
	addressRate, addressBurst = 250, 4000
	// oversizedCost is how many normal requests an oversized request counts as, in the rate limit of its IP address.
	// The cost is high, because reading an oversized request is wasted work.
	oversizedCost = 10
)

// Limits are the limits of one server, with the counts of what its clients use at present.
type Limits struct {
	Limiter limit.Limiter // Counts requests, WebSockets, subscriptions, logs and scans in use.
	Budget  *limit.Budget // Memory that all responses share.

	peers        listen.Peers
	memoryLimit  int64
	addressRates *limit.Rates // Rate limits for the requests and messages of one address.
	frameRates   *limit.Rates // Rate limits for the frames of all WebSockets of one address.
	openSockets  atomic.Int64
}

// New returns the limits of a server. The parameter trusted contains the proxies that send the addresses of clients.
// memoryLimit is the memory limit of the program in bytes; 0 means no limit.
func New(trusted listen.Peers, memoryLimit int64) *Limits {
	return &Limits{
		Budget: limit.NewBudget(responseMemory(memoryLimit)), peers: trusted, memoryLimit: memoryLimit,
		addressRates: limit.NewRates(addressRate, addressBurst),
		frameRates:   limit.NewRates(addressFrames, addressFrameBurst),
	}
}

// Listen wraps a listener, so that it limits the number and the rate of new connections.
func (q *Limits) Listen(listener net.Listener) net.Listener {
	return listen.New(listener, q.addressRates, q.peers)
}

// OpenSockets returns the number of open WebSockets.
func (q *Limits) OpenSockets() int { return int(q.openSockets.Load()) }

// Processors returns the limits on the concurrent work that keeps a processor busy: scanning all rows of a resource,
// encoding and compressing a response, or converting a long text. One caller, or all guests of one link, can use half
// of the processors. All requests together can use all processors but one, which is left for the WebSockets. While
// the work counts toward these limits, it must not wait for a client or the API server.
func (q *Limits) Processors(r *http.Request) []limit.Limit {
	caller, processors := q.CallerOf(r), int64(runtime.GOMAXPROCS(0))
	return []limit.Limit{
		{Key: "builds of " + cmp.Or(caller.Group, caller.Key), Max: max(1, processors/2)},
		{Key: "builds", Max: max(1, processors-1)},
	}
}

// CallerOf returns the caller for a request: the client whose limits the memory and processor time of the request
// count toward. The caller is a guest (a share link with an IP address), a user, or else an IP address.
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

// Acquire counts one more use toward each of the limits. If a limit is reached, it waits up to listen.AddressWait.
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

// responseMemory returns the memory budget of all responses, in bytes. It is an eighth of the parameter limit (the
// memory limit of the process), but at least 8 MiB and at most 256 MiB. Watched objects and the headroom of the
// garbage collector use the rest of the limit; see watch.Options.
func responseMemory(limit int64) int64 {
	const least, most = 8 << 20, 256 << 20
	if limit == 0 {
		return most
	}
	return min(max(limit/8, least), most)
}
