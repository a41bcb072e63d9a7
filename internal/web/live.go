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
	// maxFrame is the maximum length of a message that is read, in bytes. A longer message of up to maxDrained bytes is
	// discarded and answered with an error. An even longer one ends the connection.
	maxFrame   = 32 << 10
	maxDrained = 1 << 20
	// maxSubscriptions is the maximum number of subscriptions of one connection.
	maxSubscriptions = 100
	// maxFaults is how many invalid messages one connection may send.
	maxFaults    = 100
	writeTimeout = 10 * time.Second
	pingInterval = 25 * time.Second
	// pongTimeout includes the time for the data that is sent before a ping: the kernels and proxies of a slow link
	// buffer some 500 KiB.
	pongTimeout = 30 * time.Second
	// messagesAtOnce is how many messages one connection encodes or sends at the same time. While one message is sent,
	// another is encoded. The third makes that possible even while a long message is being sent.
	messagesAtOnce = 3
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
	out := &outgoing{
		in: newIncoming(s.rateLimitersFor(r, rate.NewLimiter(frameRate, frameBurst), s.frameRates)), papers: &s.paper,
	}
	conn, err := websocket.Accept(&accepting{w, out}, r, &websocket.AcceptOptions{
		Subprotocols:         []string{subprotocol},
		CompressionMode:      websocket.CompressionNoContextTakeover,
		CompressionThreshold: watch.CompressFrom,
		OriginPatterns:       s.boundary.patterns(r),
	})
	if err != nil {
		s.sockets.Done()
		return nil //nolint:nilerr // Accept has responded.
	}
	quotas, builds := s.socketQuotas(r), s.processorLimits(r)
	// The wait has no time limit, because a thousand tabs may reconnect together.
	inTurn := func(ctx context.Context) (leave func(), err error) {
		lease, err := s.limiter.Acquire(ctx, 1, builds...)
		return lease.Release, err
	}
	access := s.access(r).InTurn(inTurn).AtOnce(messagesAtOnce).Crowded(func() int { return s.crowd(quotas) })
	l := &session{
		conn: conn, out: out, caller: s.callerOf(r), identity: identity, guest: guestIn(r), server: s,
		showing: s.showing(r), of: r.URL.Query().Get("cluster"), parts: r.URL.Query().Get("parts") == "true",
		quotas: quotas, each: subscriptionQuotas(quotas),
		rates:    s.rateLimitersFor(r, rate.NewLimiter(messageRate, messageBurst), s.rates),
		onTheWay: make(chan struct{}, partsOnTheWay), subscriptions: make(map[int]*follower),
	}
	l.access = access.Reserving(l.reserve)
	go func() { // The handler returns, which releases what the request uses.
		defer s.sockets.Done()
		l.serve()
	}()
	return nil
}

// session is one WebSocket. read receives its messages. Each subscription sends from its own goroutine, so that a slow
// client delays only its own subscriptions.
type session struct {
	conn     *websocket.Conn
	out      *outgoing // The network connection that conn uses.
	access   *watch.Access
	caller   limit.Caller
	identity auth.Identity // The identity of the client, and how long it is valid.
	guest    *share.Guest  // Nil if the client is not a guest.
	server   *Server
	showing  *showing
	of       string             // The id of the cluster that the page shows; empty if unknown.
	parts    bool               // Long messages are sent in chunks.
	onTheWay chan struct{}      // A semaphore, with a slot for each chunk that the client has not received yet.
	cancel   context.CancelFunc // Ends the session without a close frame.
	quotas   []limit.Limit
	each     []limit.Limit   // The limits that each subscription counts toward.
	rates    []*rate.Limiter // The rate limits of the messages that are read.

	running sync.WaitGroup
	faults  int // Invalid messages so far.
	writing sync.Mutex
	late    late

	mu            sync.Mutex
	subscriptions map[int]*follower
	pinger        *time.Timer // Nil after the session has ended.
}

// follower is a running subscription.
type follower struct {
	stop   context.CancelFunc
	ended  chan struct{}
	window *watch.Window // Nil in views without a window.
}

// serve serves the socket until the connection ends. If the context of a read ends, the library drops the connection
// without a close frame. The context of the reads therefore lasts as long as the connection. Code that ends the session
// closes the connection with a status.
func (l *session) serve() {
	defer l.caught()
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.showing.ended))
	l.cancel = cancel
	defer cancel()
	leave := l.server.enter(l.quotas)
	if leave == nil {
		l.sendAway(websocket.StatusTryAgainLater, fullFor, "too many connections")
		return
	}
	defer leave()
	if l.of != "" && l.of != l.showing.id {
		l.close(statusSwitched, switched)
		return
	}
	if l.guest != nil {
		defer l.guest.Enter()()
	}
	told := make(chan struct{})
	unstopped := context.AfterFunc(l.showing.ended, func() {
		defer close(told)
		if l.server.stopping.Err() == nil {
			l.close(statusSwitched, switched)
			return
		}
		l.sendAway(websocket.StatusGoingAway, stopFor, "the server is stopping")
	})
	lasts, done := l.identity.Within(ctx)
	defer done()
	unended := l.endWith(lasts)
	defer unended()
	l.late.cut = l.cut
	defer l.late.stop()
	l.startPings(ctx)
	_ = l.read(ctx) // It returns when the connection has ended, for any reason.
	cancel()
	_ = l.conn.CloseNow() // It may be closed already.
	if !unstopped() {
		<-told
	}
	l.stopPings()
	l.running.Wait()
}

// caught logs a panic. The panic ends only this connection.
func (l *session) caught() {
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
		frame, err := io.ReadAll(io.LimitReader(reader, maxFrame+1))
		if err != nil {
			return err
		}
		if len(frame) <= maxFrame && kind == websocket.MessageText {
			l.frame(ctx, frame)
			continue
		}
		if err := l.drain(ctx, reader); err != nil {
			return err
		}
		if kind != websocket.MessageText {
			l.fault(ctx, badRequest("Binary frame", "The frame is binary; send JSON in text frames."))
		} else {
			l.fault(ctx, &problem{
				Title: "Frame too long", Status: http.StatusRequestEntityTooLarge,
				Detail: fmt.Sprintf("A frame may have at most %d bytes.", maxFrame),
			})
		}
	}
}

// drain discards the rest of a message. It waits for the rate limit once for every maxFrame bytes.
func (l *session) drain(ctx context.Context, rest io.Reader) error {
	for {
		if err := l.wait(ctx); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, rest, maxFrame); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// write sends one message. members is the content of its JSON object after the id. If plain is set, the message is not
// compressed, however long it is.
func (l *session) write(ctx context.Context, members []byte, id *int, plain bool) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.late.begin()
	defer l.late.end()
	// The end of a subscription must not end the connection in the middle of a frame. A context with a deadline would
	// cost as much as the rest of the write.
	ctx = context.WithoutCancel(ctx)
	var err error
	if plain && len(members) >= watch.CompressFrom {
		err = l.sendPlain(ctx, members, id)
	} else {
		err = l.send(ctx, members, id)
	}
	if err != nil {
		l.cut()
	}
	return err
}

// reserve reserves memory for a message.
func (l *session) reserve(ctx context.Context, bytes int64) (*limit.Reservation, error) {
	m := &reservedMessage{session: l, taken: l.out.taken.Load()}
	defer func() { m.since.Store(time.Now().UnixNano()) }()
	return l.server.budget.Reserve(ctx, l.caller, bytes, m)
}

// reservedMessage is a message that is being sent, for which memory is reserved.
type reservedMessage struct {
	session *session
	since   atomic.Int64 // In Unix nanoseconds; 0 until the memory is reserved.
	taken   int64        // Value of session.out.taken when the reservation was requested.
}

// Behind implements limit.Response. It returns how long the client has accepted nothing. If it is more, it returns how
// far the client is behind a given rate. Bytes of other messages count as well, because they are sent first.
func (m *reservedMessage) Behind(rate int64) time.Duration {
	since := m.since.Load()
	if since == 0 {
		return 0
	}
	out := m.session.out
	now := time.Since(time.Unix(0, max(since, out.progress.Load())))
	return max(now, time.Since(time.Unix(0, since))-timeFor(out.taken.Load()-m.taken, rate))
}

// Abort ends the connection.
func (m *reservedMessage) Abort() { m.session.cancel() }

// opening appends the beginning of a message to dst, with its id if there is one.
func opening(dst []byte, id *int) []byte {
	dst = append(dst, '{')
	if id != nil {
		dst = append(strconv.AppendInt(append(dst, `"id":`...), int64(*id), 10), ',')
	}
	return dst
}

// send writes a message as one WebSocket frame.
func (l *session) send(ctx context.Context, members []byte, id *int) error {
	text, ok := l.server.paper.Get().(*[]byte)
	if !ok {
		text = new([]byte)
	}
	defer l.server.paper.Put(text)
	*text = append(append(opening((*text)[:0], id), members...), '}')
	return l.conn.Write(ctx, websocket.MessageText, *text)
}

// sendPlain writes a message without compression and without a copy. The library decides whether to compress a message
// by the length of the first piece that is written.
func (l *session) sendPlain(ctx context.Context, members []byte, id *int) error {
	w, err := l.conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	var head [32]byte
	l.out.gather()
	for _, piece := range [][]byte{opening(head[:0], id), members, {'}'}} {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return l.out.flush()
}

// fault reports an invalid message to the client. After maxFaults of them it closes the connection.
func (l *session) fault(ctx context.Context, err error) {
	l.faults++
	if l.faults > maxFaults {
		l.close(websocket.StatusPolicyViolation, "too many invalid messages; see the last errors")
		return
	}
	l.problem(ctx, nil, err)
}

// problem sends an error to the client. id is nil if the error does not belong to a subscription.
func (l *session) problem(ctx context.Context, id *int, err error) {
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
	window, err := o.window()
	if err != nil {
		l.problem(ctx, &o.ID, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{stop: cancel, ended: make(chan struct{}), window: window}
	l.mu.Lock()
	_, taken := l.subscriptions[o.ID]
	full := len(l.subscriptions) >= maxSubscriptions
	if !taken && !full {
		l.subscriptions[o.ID] = f
	}
	l.mu.Unlock()
	var lease *limit.Lease
	if !taken && !full {
		lease = l.server.limiter.TryAcquire(1, l.each...)
	}
	switch {
	case taken:
		cancel()
		l.problem(ctx, nil,
			badRequest("Subscription exists", "The id %d is in use; unsubscribe it first, or use another.", o.ID))
	case full:
		cancel()
		l.problem(ctx, &o.ID,
			badRequest("Too many subscriptions", "The maximum of a connection is %d; unsubscribe one first.",
				maxSubscriptions))
	case lease == nil:
		cancel()
		l.forget(o.ID, f)
		l.problem(ctx, &o.ID, badRequest("Too many subscriptions",
			"All connections of a user, a link or an address together may have %d for each allowed connection; "+
				"unsubscribe one first.", socketSubscriptions))
	default:
		l.running.Go(func() {
			defer close(f.ended)
			defer lease.Release()
			defer cancel()
			err := l.follow(ctx, o, window)
			l.forget(o.ID, f)
			switch {
			case ctx.Err() != nil || errors.Is(err, watch.ErrClosed):
			case err != nil:
				l.problem(ctx, &o.ID, err)
			case o.View == viewLog:
				_ = l.write(ctx, []byte(`"type":"log-end"`), &o.ID, true) // A failed write ends the session.
			}
		})
	}
}

// follow sends the messages of a subscription. It returns nil at the end of a log. For other views nil means that the
// session has ended.
func (l *session) follow(ctx context.Context, o *operation, window *watch.Window) (err error) {
	defer caught(&err)
	switch {
	case o.View == viewResources && o.filters():
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
		if err := l.tell(ctx, message, o.ID, watch.View(o.View).Plain(message), subscription.Stands); err != nil {
			return nil // The session ends, so the error cannot be reported.
		}
	}
}

// move changes the window of a subscription, the range of rows that it sends. The subscription then sends the new rows.
// After an invalid request the window stays as it is.
func (l *session) move(ctx context.Context, o *operation) {
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
		l.problem(ctx, nil, err)
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
		l.problem(ctx, nil, noSubscription(id))
		return
	}
	f.stop()
	<-f.ended
}

// forget frees the id of a subscription, unless another subscription uses it by now.
func (l *session) forget(id int, f *follower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.subscriptions[id] == f {
		delete(l.subscriptions, id)
	}
}
