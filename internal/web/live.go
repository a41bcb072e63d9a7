package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
	// maxMessage is the maximum length of a message that is read, in bytes. A longer message of up to maxDrained bytes is
	// discarded and answered with an error. An even longer one ends the connection.
	maxMessage = 32 << 10
	maxDrained = 1 << 20
	// maxSubscriptions is the maximum number of subscriptions of one connection.
	maxSubscriptions = 100
	// maxInvalidMessages is how many invalid messages one connection may send.
	maxInvalidMessages = 100
	writeTimeout       = 10 * time.Second
	pingInterval       = 25 * time.Second
	// pongTimeout includes the time for the data that is sent before a ping: the kernels and proxies of a slow link
	// buffer some 500 KiB.
	pongTimeout = 30 * time.Second
	// maxConcurrentMessages is how many messages one connection encodes or sends at the same time. While one message is sent,
	// another is encoded. The third makes that possible even while a long message is being sent.
	maxConcurrentMessages = 3
)

// live serves the WebSocket of a tab.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	if !strings.Contains(r.Header.Get("Sec-WebSocket-Protocol"), subprotocol) {
		return badRequest("Wrong subprotocol", "Open a WebSocket with the subprotocol %s.", subprotocol)
	}
	identity := identityOf(r)
	// Count the socket before Accept. Accept removes the connection from the http.Server, and Run then waits for the
	// count.
	s.sockets.Add(1)
	netConn := &corkedConn{
		limiter: newFrameLimiter(s.rateLimitersFor(r, rate.NewLimiter(frameRate, frameBurst), s.frameRates)), messageBuffers: &s.messageBuffers,
	}
	conn, err := websocket.Accept(&hijacker{w, netConn}, r, &websocket.AcceptOptions{
		Subprotocols:         []string{subprotocol},
		CompressionMode:      websocket.CompressionNoContextTakeover,
		CompressionThreshold: watch.CompressFrom,
		OriginPatterns:       s.boundary.originPatterns(r),
	})
	if err != nil {
		s.sockets.Done()
		return nil //nolint:nilerr // Accept has responded.
	}
	quotas, builds := s.socketQuotas(r), s.processorLimits(r)
	// The wait has no time limit, because a thousand tabs may reconnect together.
	acquireProcessor := func(ctx context.Context) (release func(), err error) {
		lease, err := s.limiter.Acquire(ctx, 1, builds...)
		return lease.Release, err
	}
	access := s.access(r).WithScanLimiter(acquireProcessor).WithMaxMessages(maxConcurrentMessages).WithFanOut(func() int { return s.fanOutSize(quotas) })
	l := &session{
		conn: conn, netConn: netConn, caller: s.callerOf(r), identity: identity, guest: guestOf(r), server: s,
		cluster: s.clusterOf(r), pageClusterID: r.URL.Query().Get("cluster"), acceptsChunks: r.URL.Query().Get("parts") == "true",
		quotas: quotas, subscriptionQuotas: subscriptionQuotas(quotas),
		limiters: s.rateLimitersFor(r, rate.NewLimiter(messageRate, messageBurst), s.addressRates),
		inFlight: make(chan struct{}, maxChunksInFlight), subscriptions: make(map[int]*openSubscription),
	}
	l.access = access.WithReserve(l.reserve)
	go func() { // The handler returns, which releases what the request uses.
		defer s.sockets.Done()
		l.serve()
	}()
	return nil
}

// session is one WebSocket. read receives its messages. Each subscription sends from its own goroutine, so that a slow
// client delays only its own subscriptions.
type session struct {
	conn               *websocket.Conn
	netConn            *corkedConn // The network connection that conn uses.
	access             *watch.Access
	caller             limit.Caller
	identity           auth.Identity // The identity of the client, and how long it is valid.
	guest              *share.Guest  // Nil if the client is not a guest.
	server             *Server
	cluster            *activeCluster
	pageClusterID      string             // The id of the cluster that the page shows; empty if unknown.
	acceptsChunks      bool               // Long messages are sent in chunks.
	inFlight           chan struct{}      // A semaphore, with a slot for each chunk that the client has not received yet.
	cancel             context.CancelFunc // Ends the session without a close frame.
	quotas             []limit.Limit
	subscriptionQuotas []limit.Limit   // The limits that each subscription counts toward.
	limiters           []*rate.Limiter // The rate limits of the messages that are read.

	running         sync.WaitGroup
	invalidMessages int // Invalid messages so far.
	writing         sync.Mutex
	watchdog        writeWatchdog

	mu            sync.Mutex
	subscriptions map[int]*openSubscription
	pinger        *time.Timer // Nil after the session has ended.
}

// openSubscription is a running subscription.
type openSubscription struct {
	stop   context.CancelFunc
	ended  chan struct{}
	window *watch.Window // Nil in views without a window.
}

// serve serves the socket until the connection ends. If the context of a read ends, the library drops the connection
// without a close frame. The context of the reads therefore lasts as long as the connection. Code that ends the session
// closes the connection with a status.
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
	_ = l.read(ctx) // It returns when the connection has ended, for any reason.
	cancel()
	_ = l.conn.CloseNow() // It may be closed already.
	if !cancelClose() {
		<-closeDone
	}
	l.stopPings()
	l.running.Wait()
}

// logPanic logs a panic. The panic ends only this connection.
func (l *session) logPanic() {
	if v := recover(); v != nil {
		l.server.log.Error("socket failed", "panic", v, "stack", string(debug.Stack()))
		_ = l.conn.CloseNow() // No other code closes it.
	}
}

// read handles messages until the connection ends.
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

// drain discards the rest of a message. It waits for the rate limit once for every maxMessage bytes.
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

// write sends one message. members is the content of its JSON object after the id. If plain is set, the message is not
// compressed, however long it is.
func (l *session) write(ctx context.Context, members []byte, id *int, uncompressed bool) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.watchdog.begin()
	defer l.watchdog.end()
	// The end of a subscription must not end the connection in the middle of a frame. A context with a deadline would
	// cost as much as the rest of the write.
	ctx = context.WithoutCancel(ctx)
	var err error
	if uncompressed && len(members) >= watch.CompressFrom {
		err = l.sendUncompressed(ctx, members, id)
	} else {
		err = l.send(ctx, members, id)
	}
	if err != nil {
		l.abort()
	}
	return err
}

// reserve reserves memory for a message.
func (l *session) reserve(ctx context.Context, bytes int64) (*limit.Reservation, error) {
	m := &reservedMessage{session: l, acceptedBefore: l.netConn.acceptedBytes.Load()}
	defer func() { m.reservedAt.Store(time.Now().UnixNano()) }()
	return l.server.budget.Reserve(ctx, l.caller, bytes, m)
}

// reservedMessage is a message that is being sent, for which memory is reserved.
type reservedMessage struct {
	session        *session
	reservedAt     atomic.Int64 // In Unix nanoseconds; 0 until the memory is reserved.
	acceptedBefore int64        // Value of session.out.taken when the reservation was requested.
}

// Behind implements limit.Response. It returns how long the client has accepted nothing. If it is more, it returns how
// far the client is behind a given rate. Bytes of other messages count as well, because they are sent first.
func (m *reservedMessage) Behind(rate int64) time.Duration {
	reservedAt := m.reservedAt.Load()
	if reservedAt == 0 {
		return 0
	}
	conn := m.session.netConn
	stalled := time.Since(time.Unix(0, max(reservedAt, conn.acceptedAt.Load())))
	return max(stalled, time.Since(time.Unix(0, reservedAt))-timeFor(conn.acceptedBytes.Load()-m.acceptedBefore, rate))
}

// Abort ends the connection.
func (m *reservedMessage) Abort() { m.session.cancel() }

// appendMessageStart appends the beginning of a message to dst, with its id if there is one.
func appendMessageStart(dst []byte, id *int) []byte {
	dst = append(dst, '{')
	if id != nil {
		dst = append(strconv.AppendInt(append(dst, `"id":`...), int64(*id), 10), ',')
	}
	return dst
}

// send writes a message as one WebSocket frame.
func (l *session) send(ctx context.Context, members []byte, id *int) error {
	text, ok := l.server.messageBuffers.Get().(*[]byte)
	if !ok {
		text = new([]byte)
	}
	defer l.server.messageBuffers.Put(text)
	*text = append(append(appendMessageStart((*text)[:0], id), members...), '}')
	return l.conn.Write(ctx, websocket.MessageText, *text)
}

// sendUncompressed writes a message without compression and without a copy. The library decides whether to compress a message
// by the length of the first piece that is written.
func (l *session) sendUncompressed(ctx context.Context, members []byte, id *int) error {
	w, err := l.conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	var head [32]byte
	l.netConn.cork()
	for _, piece := range [][]byte{appendMessageStart(head[:0], id), members, {'}'}} {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return l.netConn.flush()
}

// rejectMessage reports an invalid message to the client. After maxInvalidMessages of them it closes the connection.
func (l *session) rejectMessage(ctx context.Context, err error) {
	l.invalidMessages++
	if l.invalidMessages > maxInvalidMessages {
		l.close(websocket.StatusPolicyViolation, "too many invalid messages; see the last errors")
		return
	}
	l.sendProblem(ctx, nil, err)
}

// sendProblem sends an error to the client. id is nil if the error does not belong to a subscription.
func (l *session) sendProblem(ctx context.Context, id *int, err error) {
	p := problemFor(l.identity.Viewer, err)
	p.Type = "about:blank"
	if p.Status == http.StatusInternalServerError {
		l.server.log.ErrorContext(ctx, "subscription failed", "error", err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return // Not reached: strings and a number always encode.
	}
	_ = l.write(ctx, append([]byte(`"type":"error","problem":`), text...), id, true) // A failed write ends the session.
}

// subscribe runs one subscription until it ends by itself or by unsubscribe.
func (l *session) subscribe(ctx context.Context, o *operation) {
	window, err := o.newWindow()
	if err != nil {
		l.sendProblem(ctx, &o.ID, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &openSubscription{stop: cancel, ended: make(chan struct{}), window: window}
	l.mu.Lock()
	_, exists := l.subscriptions[o.ID]
	full := len(l.subscriptions) >= maxSubscriptions
	if !exists && !full {
		l.subscriptions[o.ID] = f
	}
	l.mu.Unlock()
	var lease *limit.Lease
	if !exists && !full {
		lease = l.server.limiter.TryAcquire(1, l.subscriptionQuotas...)
	}
	switch {
	case exists:
		cancel()
		l.sendProblem(ctx, nil,
			badRequest("Subscription exists", "The id %d is in use; unsubscribe it first, or use another.", o.ID))
	case full:
		cancel()
		l.sendProblem(ctx, &o.ID,
			badRequest("Too many subscriptions", "The maximum of a connection is %d; unsubscribe one first.",
				maxSubscriptions))
	case lease == nil:
		cancel()
		l.removeSubscription(o.ID, f)
		l.sendProblem(ctx, &o.ID, badRequest("Too many subscriptions",
			"All connections of a user, a link or an address together may have %d for each allowed connection; "+
				"unsubscribe one first.", socketSubscriptions))
	default:
		l.running.Go(func() {
			defer close(f.ended)
			defer lease.Release()
			defer cancel()
			err := l.follow(ctx, o, window)
			l.removeSubscription(o.ID, f)
			switch {
			case ctx.Err() != nil || errors.Is(err, watch.ErrClosed):
			case err != nil:
				l.sendProblem(ctx, &o.ID, err)
			case o.View == viewLog:
				_ = l.write(ctx, []byte(`"type":"log-end"`), &o.ID, true) // A failed write ends the session.
			}
		})
	}
}

// follow sends the messages of a subscription. It returns nil at the end of a log. For other views nil means that the
// session has ended.
func (l *session) follow(ctx context.Context, o *operation, window *watch.Window) (err error) {
	defer recoverAsError(&err)
	switch {
	case o.View == viewResources && o.hasSelection():
		return badRequest("Invalid resources subscription",
			"view resources covers all resources, and allows no other member but id.")
	case o.View == viewResources:
		return l.followResources(ctx, o.ID)
	case o.View == viewLog:
		return l.followLog(ctx, o)
	}
	subscription, err := l.access.Subscribe(ctx, o.query(window), watch.View(o.View), o.Cursor)
	if err != nil {
		return err
	}
	defer subscription.Close()
	for {
		message, err := subscription.Next(ctx)
		if err != nil {
			return err
		}
		if err := l.sendChunked(ctx, message, o.ID, watch.View(o.View).IsPlain(message), subscription.StillValid); err != nil {
			return nil // The session ends, so the error cannot be reported.
		}
	}
}

// moveWindow changes the window of a subscription, the range of rows that it sends. The subscription then sends the new rows.
// After an invalid request the window stays as it is.
func (l *session) moveWindow(ctx context.Context, o *operation) {
	l.mu.Lock()
	f := l.subscriptions[o.ID]
	l.mu.Unlock()
	err := error(noSubscription(o.ID))
	switch {
	case f != nil && f.window == nil:
		err = badRequest("Invalid window", "The subscription with the id %d has another view.", o.ID)
	case f != nil:
		err = f.window.Move(o.Offset, o.Count, strings.Join(o.Namespaces, ","), o.Name)
	}
	if err != nil {
		l.sendProblem(ctx, nil, err)
	}
}

func noSubscription(id int) *problem {
	return badRequest("No such subscription", "There is no subscription with the id %d.", id)
}

// unsubscribe ends a subscription. After it has returned, no message with its id is sent, and the id may be used again.
func (l *session) unsubscribe(ctx context.Context, id int) {
	l.mu.Lock()
	f := l.subscriptions[id]
	l.mu.Unlock()
	if f == nil {
		l.sendProblem(ctx, nil, noSubscription(id))
		return
	}
	f.stop()
	<-f.ended
}

// removeSubscription frees the id of a subscription, unless another subscription uses it by now.
func (l *session) removeSubscription(id int, f *openSubscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.subscriptions[id] == f {
		delete(l.subscriptions, id)
	}
}
