// Package live serves one WebSocket for each browser tab. A session reads the operations of a client, and runs each
// subscription in its own goroutine. The connection of the session sends one message at a time, and limits the time
// for each.
package live

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/picker"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

const (
	subprotocol = "glasshouse.v1+json"
	// If a client's message has more than maxMessage bytes, the client gets an error. If it has more than maxDrained
	// bytes, the connection ends.
	maxMessage       = 32 << 10
	maxDrained       = 1 << 20
	maxSubscriptions = 100
	// maxInvalidMessages is how many invalid messages a client can send on one connection. One more closes the
	// connection.
	maxInvalidMessages = 100
	pingInterval       = 25 * time.Second
	// pongTimeout is the maximum wait for a pong. It is long, because on a slow link, kernels and proxies buffer about
	// 500 KiB that the client must receive before the ping.
	pongTimeout = 30 * time.Second
	// maxConcurrentMessages is the maximum number of messages in memory per connection. For example, one message is
	// encoded, another is sent, and a third, long message waits between two chunks.
	maxConcurrentMessages = 3
)

// Deps are the dependencies of Sockets.
type Deps struct {
	Limits *quota.Limits
	Reader *response.Reader
	Picker *picker.List
	Log    *slog.Logger
	// Origins returns the allowed origins of a request, as patterns for the WebSocket library.
	Origins func(*http.Request) []string
	// Stopping reports whether the server stops. A canceled cluster context does not show this: it is also canceled when
	// another cluster becomes active.
	Stopping func() bool
}

// Sockets serves the WebSockets of all browser tabs.
type Sockets struct {
	deps           Deps
	feeds          picker.Feeds
	messageBuffers sync.Pool // Pool of *[]byte, the buffers in which messages are built.
	running        sync.WaitGroup
}

// New returns Sockets without any open WebSocket.
func New(deps Deps) *Sockets { return &Sockets{deps: deps} }

// Wait waits until all WebSockets are closed. It closes none: the WebSockets of a cluster close when the
// context.Context of the cluster is canceled.
func (s *Sockets) Wait() { s.running.Wait() }

// Serve accepts the WebSocket of one browser tab, and serves it in another goroutine.
func (s *Sockets) Serve(w http.ResponseWriter, r *http.Request) error {
	if !strings.Contains(r.Header.Get("Sec-WebSocket-Protocol"), subprotocol) {
		return request.BadRequest("Wrong subprotocol", "Open a WebSocket with the subprotocol %s.", subprotocol)
	}
	// Count the WebSocket before Accept, so that Wait waits for it: http.Server does not wait for a connection that
	// Accept has hijacked.
	s.running.Add(1)
	netConn := listen.NewCorkedConn(s.deps.Limits.FrameLimiters(r), &s.messageBuffers)
	conn, err := websocket.Accept(netConn.Hijacker(w), r, &websocket.AcceptOptions{
		Subprotocols:         []string{subprotocol},
		CompressionMode:      websocket.CompressionNoContextTakeover,
		CompressionThreshold: messages.CompressFrom,
		OriginPatterns:       s.deps.Origins(r),
	})
	if err != nil {
		s.running.Done()
		return nil //nolint:nilerr // Accept has already sent an error response.
	}
	quotas, builds := s.deps.Limits.ForSocket(r), s.deps.Limits.Processors(r)
	options := s.deps.Reader.Options(r)
	// ScanLimiter has no timeout. When a thousand tabs reconnect at once, their subscriptions can wait long for a
	// processor.
	options.ScanLimiter = func(ctx context.Context) (release func(), err error) {
		lease, err := s.deps.Limits.Limiter.Acquire(ctx, 1, builds...)
		return lease.Release, err
	}
	options.MaxMessages = maxConcurrentMessages
	l := &session{
		conn: connection{
			ws: conn, netConn: netConn, sockets: s, caller: s.deps.Limits.CallerOf(r),
			acceptsChunks: r.URL.Query().Get("parts") == "true", inFlight: make(chan struct{}, maxChunksInFlight),
		},
		identity: request.IdentityOf(r), guest: request.GuestOf(r), sockets: s,
		cluster: request.ClusterOf(r), pageClusterID: r.URL.Query().Get("cluster"),
		quotas: quotas, subscriptionQuotas: quota.ForSubscription(quotas), limiters: s.deps.Limits.MessageLimiters(r),
		subscriptions: make(map[int]*openSubscription),
	}
	options.Reserve = l.conn.reserve
	l.access = l.cluster.Cluster.For(l.identity.Viewer).With(options)
	// Serve the WebSocket in another goroutine. The handler can then return, which frees the memory of the request.
	go func() {
		defer s.running.Done()
		l.serve()
	}()
	return nil
}
