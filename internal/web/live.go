package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

const (
	subprotocol = "glasshouse.v1+json"
	// maxMessage is the maximum length, in bytes, of a message that a client sends. A longer message of up to maxDrained
	// bytes is discarded and answered with an error. An even longer message ends the connection.
	maxMessage = 32 << 10
	maxDrained = 1 << 20
	// maxSubscriptions is the maximum number of subscriptions of one connection.
	maxSubscriptions = 100
	// maxInvalidMessages is how many invalid messages one connection may send before it is closed.
	maxInvalidMessages = 100
	writeTimeout       = 10 * time.Second
	pingInterval       = 25 * time.Second
	// pongTimeout is how long a client may take to answer a ping. In that time, the client must also receive the data
	// that was sent before the ping. The kernels and proxies of a slow link buffer some 500 KiB.
	pongTimeout = 30 * time.Second
	// maxConcurrentMessages is how many messages one connection may encode or send at the same time. While one message
	// is sent, the next one is encoded. The third allows this even while a long message is being sent.
	maxConcurrentMessages = 3
)

// live serves the WebSocket of one browser tab.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	if !strings.Contains(r.Header.Get("Sec-WebSocket-Protocol"), subprotocol) {
		return badRequest("Wrong subprotocol", "Open a WebSocket with the subprotocol %s.", subprotocol)
	}
	identity := identityOf(r)
	// Count the socket before Accept takes its connection from the http.Server. From then on, http.Server no longer
	// waits for the connection. Server.Run waits for the count instead.
	s.sockets.Add(1)
	netConn := &corkedConn{
		limiter:        newFrameLimiter(s.rateLimitersFor(r, rate.NewLimiter(frameRate, frameBurst), s.frameRates)),
		messageBuffers: &s.messageBuffers,
	}
	conn, err := websocket.Accept(&hijacker{w, netConn}, r, &websocket.AcceptOptions{
		Subprotocols:         []string{subprotocol},
		CompressionMode:      websocket.CompressionNoContextTakeover,
		CompressionThreshold: watch.CompressFrom,
		OriginPatterns:       s.boundary.originPatterns(r),
	})
	if err != nil {
		s.sockets.Done()
		return nil //nolint:nilerr // Accept has already sent an error response.
	}
	quotas, builds := s.socketQuotas(r), s.processorLimits(r)
	// A subscription waits for a processor without a time limit, because a thousand tabs may reconnect together.
	acquireProcessor := func(ctx context.Context) (release func(), err error) {
		lease, err := s.limiter.Acquire(ctx, 1, builds...)
		return lease.Release, err
	}
	access := s.access(r).
		WithScanLimiter(acquireProcessor).
		WithMaxMessages(maxConcurrentMessages).
		WithFanOut(func() int { return s.fanOutSize(quotas) })
	l := &session{
		conn: conn, netConn: netConn, caller: s.callerOf(r), identity: identity, guest: guestOf(r), server: s,
		cluster: s.clusterOf(
			r,
		), pageClusterID: r.URL.Query().Get("cluster"), acceptsChunks: r.URL.Query().Get("parts") == "true",
		quotas: quotas, subscriptionQuotas: subscriptionQuotas(quotas),
		limiters: s.rateLimitersFor(r, rate.NewLimiter(messageRate, messageBurst), s.addressRates),
		inFlight: make(chan struct{}, maxChunksInFlight), subscriptions: make(map[int]*openSubscription),
	}
	l.access = access.WithReserve(l.reserve)
	// Serve the socket in another goroutine. The handler returns, which frees the memory that the request uses.
	go func() {
		defer s.sockets.Done()
		l.serve()
	}()
	return nil
}

// session is one WebSocket. The method read handles the messages of the client. Each subscription sends from its own
// goroutine, so that a slow client delays only its own subscriptions, and not those of other clients.
type session struct {
	conn          *websocket.Conn
	netConn       *corkedConn // The network connection that conn uses.
	access        *watch.Access
	caller        limit.Caller
	identity      auth.Identity // The identity of the client, and how long it is valid.
	guest         *share.Guest  // Nil if the client is not a guest.
	server        *Server
	cluster       *activeCluster
	pageClusterID string // The id of the cluster that the page shows; empty if unknown.
	acceptsChunks bool   // Whether the client accepts long messages in chunks.
	// inFlight is a semaphore with one slot for each chunk that was sent and that the client has not received yet.
	inFlight           chan struct{}
	cancel             context.CancelFunc // Ends the session without a close frame.
	quotas             []limit.Limit
	subscriptionQuotas []limit.Limit   // The limits that each subscription of the session counts toward.
	limiters           []*rate.Limiter // The rate limits of the messages that the client sends.

	running         sync.WaitGroup
	invalidMessages int // The number of invalid messages so far.
	writing         sync.Mutex
	watchdog        writeWatchdog

	mu            sync.Mutex
	subscriptions map[int]*openSubscription
	pinger        *time.Timer // Nil after the session has ended.
}

// serve serves the socket until the connection ends. If the context of a read ended, the library would drop the
// connection without a close frame. The context of the reads therefore lasts as long as the connection. Code that
// ends the session closes the connection with a close code.
func (l *session) serve() {
	defer l.logPanic()
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.cluster.ctx))
	l.cancel = cancel
	defer cancel()
	release := l.server.acquireSocket(l.quotas)
	if release == nil {
		l.closeWithRetry(websocket.StatusTryAgainLater, fullRetryDelay, "too many connections")
		return
	}
	defer release()
	if l.pageClusterID != "" && l.pageClusterID != l.cluster.id {
		l.close(statusSwitched, switchedReason)
		return
	}
	if l.guest != nil {
		defer l.guest.Enter()()
	}
	closeDone := make(chan struct{})
	cancelClose := context.AfterFunc(l.cluster.ctx, func() {
		defer close(closeDone)
		if l.server.stopping.Err() == nil {
			l.close(statusSwitched, switchedReason)
			return
		}
		l.closeWithRetry(websocket.StatusGoingAway, stopRetryDelay, "the server is stopping")
	})
	identityCtx, done := l.identity.Context(ctx)
	defer done()
	waitClosed := l.closeOnEnd(identityCtx)
	defer waitClosed()
	l.watchdog.abort = l.abort
	defer l.watchdog.stop()
	l.startPings(ctx)
	_ = l.read(ctx) // read returns when the connection has ended, for any reason.
	cancel()
	_ = l.conn.CloseNow() // An error means that the connection is closed already.
	if !cancelClose() {
		<-closeDone
	}
	l.stopPings()
	l.running.Wait()
}

// logPanic recovers from a panic in the session, and logs it. The panic ends only this connection.
func (l *session) logPanic() {
	if v := recover(); v != nil {
		l.server.log.Error("socket failed", "panic", v, "stack", string(debug.Stack()))
		_ = l.conn.CloseNow() // After a panic, no other code closes the connection.
	}
}

// read handles the messages of the client until the connection ends.
func (l *session) read(ctx context.Context) error {
	l.conn.SetReadLimit(maxDrained)
	for {
		kind, reader, err := l.conn.Reader(ctx)
		if err != nil {
			return err
		}
		message, err := io.ReadAll(io.LimitReader(reader, maxMessage+1))
		if err != nil {
			return err
		}
		if len(message) <= maxMessage && kind == websocket.MessageText {
			l.handleMessage(ctx, message)
			continue
		}
		if err := l.drain(ctx, reader); err != nil {
			return err
		}
		if kind != websocket.MessageText {
			l.rejectMessage(ctx, badRequest("Binary frame", "The frame is binary; send JSON in text frames."))
		} else {
			l.rejectMessage(ctx, &problem{
				Title: "Frame too long", Status: http.StatusRequestEntityTooLarge,
				Detail: fmt.Sprintf("A frame may have at most %d bytes.", maxMessage),
			})
		}
	}
}

// drain discards the rest of a refused message. It waits for the rate limit of messages once for every maxMessage
// bytes.
func (l *session) drain(ctx context.Context, rest io.Reader) error {
	for {
		if err := l.waitForRate(ctx); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, rest, maxMessage); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
