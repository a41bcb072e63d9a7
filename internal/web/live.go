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
	"glasshouse/internal/watch/stream"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

const (
	subprotocol = "glasshouse.v1+json"
	// maxMessage is the maximum length, in bytes, of a message from a client. The server discards a longer message of
	// up to maxDrained bytes, and sends an error. An even longer message ends the connection.
	maxMessage       = 32 << 10
	maxDrained       = 1 << 20
	maxSubscriptions = 100
	// maxInvalidMessages is how many invalid messages a client can send on one connection. The next one closes the
	// connection.
	maxInvalidMessages = 100
	writeTimeout       = 10 * time.Second
	pingInterval       = 25 * time.Second
	// pongTimeout is the maximum time until the client answers a ping. It is long, because all data sent before the
	// ping arrives first. Kernels and proxies buffer about 500 KiB on a slow link.
	pongTimeout = 30 * time.Second
	// maxConcurrentMessages is how many messages of one connection are encoded or sent at the same time: one is sent,
	// and the next is encoded. The third message keeps this possible while a long message is sent in chunks.
	maxConcurrentMessages = 3
)

// live serves the WebSocket of one browser tab.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	if !strings.Contains(r.Header.Get("Sec-WebSocket-Protocol"), subprotocol) {
		return badRequest("Wrong subprotocol", "Open a WebSocket with the subprotocol %s.", subprotocol)
	}
	identity := identityOf(r)
	// Count the socket before Accept hijacks its connection. http.Server does not wait for hijacked connections on
	// shutdown, so Server.Run waits for s.sockets.
	s.sockets.Add(1)
	netConn := &corkedConn{
		limiter:        newFrameLimiter(s.rateLimitersFor(r, rate.NewLimiter(frameRate, frameBurst), s.frameRates)),
		messageBuffers: &s.messageBuffers,
	}
	conn, err := websocket.Accept(&hijacker{w, netConn}, r, &websocket.AcceptOptions{
		Subprotocols:         []string{subprotocol},
		CompressionMode:      websocket.CompressionNoContextTakeover,
		CompressionThreshold: stream.CompressFrom,
		OriginPatterns:       s.boundary.originPatterns(r),
	})
	if err != nil {
		s.sockets.Done()
		return nil //nolint:nilerr // Accept has already sent an error response.
	}
	quotas, builds := s.socketQuotas(r), s.processorLimits(r)
	// A subscription waits for a processor without a timeout, because a thousand tabs can reconnect at once.
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
	// Serve the socket in another goroutine, so that the handler returns and the memory of the request is freed.
	go func() {
		defer s.sockets.Done()
		l.serve()
	}()
	return nil
}

// session is one WebSocket of one browser tab. The method read handles the client's messages. Each subscription has
// its own goroutine, so that a slow client does not delay other clients.
type session struct {
	conn          *websocket.Conn
	netConn       *corkedConn // The network connection below conn.
	access        *watch.Access
	caller        limit.Caller
	identity      auth.Identity // Who the client is, and until when the login is valid.
	guest         *share.Guest  // The viewer of a share link; nil for other clients.
	server        *Server
	cluster       *activeCluster
	pageClusterID string // The ID of the cluster that the page shows; empty if unknown.
	acceptsChunks bool   // Whether the client supports messages in chunks.
	// inFlight is a semaphore of maxChunksInFlight slots. A chunk uses a slot until the client has received the chunk.
	inFlight           chan struct{}
	cancel             context.CancelFunc // Ends the session without a close frame.
	quotas             []limit.Limit
	subscriptionQuotas []limit.Limit   // Limits on the number of subscriptions.
	limiters           []*rate.Limiter // Rate limits of the client's messages.

	running         sync.WaitGroup
	invalidMessages int // Number of invalid messages from the client so far.
	writing         sync.Mutex
	watchdog        writeWatchdog

	mu            sync.Mutex
	subscriptions map[int]*openSubscription
	pinger        *time.Timer // Sends the periodic pings; nil after the session has ended.
}

// serve serves the socket until the connection ends. Code that ends the session must not cancel the context of read,
// because the WebSocket library would drop the connection without a close frame. It closes the connection with a
// close code instead.
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
	_ = l.read(ctx) // read returns an error when the connection ends.
	cancel()
	_ = l.conn.CloseNow() // The connection may be closed already.
	if !cancelClose() {
		<-closeDone
	}
	l.stopPings()
	l.running.Wait()
}

// logPanic recovers from a panic in the session and logs it, so that the panic ends only this connection.
func (l *session) logPanic() {
	if v := recover(); v != nil {
		l.server.log.Error("WebSocket session failed", "panic", v, "stack", string(debug.Stack()))
		_ = l.conn.CloseNow() // After a panic, no other code closes the connection.
	}
}

// read receives and handles the client's messages until the connection ends.
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

// drain discards the rest of a refused message. Every maxMessage bytes of it count as one message for the rate limit.
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
