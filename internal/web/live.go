package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"glasshouse/internal/watch"
)

const (
	subprotocol = "glasshouse.v1+json"
	// maxFrame is the longest frame that is read; one up to maxDrained is read
	// to nowhere and answered with an error, a longer one ends the connection.
	maxFrame   = 32 << 10
	maxDrained = 16 << 20
	// maxSubscriptions are those of one connection.
	maxSubscriptions = 100
	writeTimeout     = 10 * time.Second
	pingInterval     = 25 * time.Second
	// compressFrom is the size of a frame from which compressing it pays.
	compressFrom = 4 << 10
)

// live is the WebSocket of a tab.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	if !strings.Contains(r.Header.Get("Sec-WebSocket-Protocol"), subprotocol) {
		return badRequest("Not a WebSocket of ours", "Open a WebSocket here with the subprotocol %s.", subprotocol)
	}
	s.sockets.Add(1) // Before Accept, which takes the connection from the http.Server that Run waits for.
	defer s.sockets.Done()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:         []string{subprotocol},
		CompressionMode:      websocket.CompressionNoContextTakeover,
		CompressionThreshold: compressFrom,
		OriginPatterns:       []string{"http://" + r.Host}, // guard has checked it.
	})
	if err != nil {
		return nil // Accept has answered.
	}
	s.open.Add(1)
	defer s.open.Add(-1)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // Which ends when the handler returns.
	defer cancel()
	l := &session{conn: conn, access: s.access(r), server: s, cancel: cancel, subscriptions: make(map[int]*follower)}
	l.run(ctx)
	return nil
}

// session is one WebSocket. Its reader is run; each subscription writes for
// itself, so that a slow client holds up its own subscriptions and nobody else.
type session struct {
	conn   *websocket.Conn
	access *watch.Access
	server *Server
	cancel context.CancelFunc // Ends the whole session.

	running       sync.WaitGroup
	mu            sync.Mutex
	subscriptions map[int]*follower
}

// follower is a running subscription.
type follower struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// run serves until the connection ends. The library ends it without a word when
// a context of a read or write does: so none of them ends before it, and what
// stops the connection says so by closing it.
func (l *session) run(ctx context.Context) {
	stopped := context.AfterFunc(l.server.stopping, func() { //nolint:contextcheck // Close has a deadline of its own.
		_ = l.conn.Close(websocket.StatusGoingAway, "the server stops; connect again in a moment") // It may be gone already.
	})
	l.running.Go(func() { l.ping(ctx) })
	_ = l.read(ctx) // It ends with the connection, however that does.
	stopped()
	l.cancel()
	_ = l.conn.CloseNow() // It may be closed already.
	l.running.Wait()
}

// read serves frames until the connection ends.
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
		if _, err := io.Copy(io.Discard, reader); err != nil {
			return err
		}
		if kind != websocket.MessageText {
			l.problem(ctx, nil, badRequest("Not text", "A binary frame came; send JSON as text frames."))
		} else {
			l.problem(ctx, nil, &problem{Title: "Frame too long", Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("A frame may have %d bytes.", maxFrame)})
		}
	}
}

// ping notices a peer that is gone without a word, and keeps proxies from
// ending a quiet connection.
func (l *session) ping(ctx context.Context) {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		wait, cancel := context.WithTimeout(ctx, writeTimeout)
		err := l.conn.Ping(wait)
		cancel()
		if err != nil {
			_ = l.conn.CloseNow() // The reader notices.
			return
		}
	}
}

// write sends one message; members is what stands in its braces behind the id.
func (l *session) write(ctx context.Context, members []byte, id *int) error {
	var message []byte
	if id != nil {
		message = fmt.Appendf(message, `{"id":%d,`, *id)
	} else {
		message = append(message, '{')
	}
	message = append(append(message, members...), '}')
	// A subscription that is ended in the midst of a frame must not end the
	// connection with it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	err := l.conn.Write(ctx, websocket.MessageText, message)
	if err != nil {
		_ = l.conn.CloseNow() // The reader notices.
	}
	return err
}

// problem tells the client of an error; id is nil where no subscription is
// meant.
func (l *session) problem(ctx context.Context, id *int, err error) {
	p := problemOf(err)
	p.Type = "about:blank"
	if p.Status == http.StatusInternalServerError {
		l.server.log.ErrorContext(ctx, "subscription failed", "error", err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return // Four strings and a number always encode.
	}
	_ = l.write(ctx, append([]byte(`"type":"error","problem":`), text...), id) // A failed write ends the session.
}

// subscribe runs one subscription until it ends, by itself or by unsubscribe.
func (l *session) subscribe(ctx context.Context, o *operation) {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{stop: cancel, ended: make(chan struct{})}
	l.mu.Lock()
	_, taken := l.subscriptions[o.ID]
	full := len(l.subscriptions) >= maxSubscriptions
	if !taken && !full {
		l.subscriptions[o.ID] = f
	}
	l.mu.Unlock()
	switch {
	case taken:
		cancel()
		l.problem(ctx, nil, badRequest("Subscription exists", "The id %d is in use; unsubscribe it first, or take another.", o.ID))
	case full:
		cancel()
		l.problem(ctx, &o.ID, badRequest("Too many subscriptions", "A connection may have %d; unsubscribe one first.", maxSubscriptions))
	default:
		l.running.Go(func() {
			defer close(f.ended)
			defer cancel()
			err := l.follow(ctx, o)
			l.forget(o.ID, f)
			if err != nil && ctx.Err() == nil && !errors.Is(err, watch.ErrClosed) {
				l.problem(ctx, &o.ID, err)
			}
		})
	}
}

// follow sends a subscription's messages.
func (l *session) follow(ctx context.Context, o *operation) (err error) {
	defer caught(&err)
	subscription, err := l.access.Subscribe(ctx, o.query(), watch.View(o.View), o.Cursor)
	if err != nil {
		return err
	}
	defer subscription.Close()
	for {
		message, err := subscription.Next(ctx)
		if err != nil {
			return err
		}
		if err := l.write(ctx, message, &o.ID); err != nil {
			return nil // The session ends; there is nobody to tell.
		}
	}
}

// unsubscribe ends a subscription. Nothing comes under its id any more, which
// may be taken again.
func (l *session) unsubscribe(ctx context.Context, id int) {
	l.mu.Lock()
	f := l.subscriptions[id]
	l.mu.Unlock()
	if f == nil {
		l.problem(ctx, nil, badRequest("No such subscription", "There is no subscription with the id %d.", id))
		return
	}
	f.stop()
	<-f.ended
}

// forget frees the id of a subscription, unless another has it by now.
func (l *session) forget(id int, f *follower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.subscriptions[id] == f {
		delete(l.subscriptions, id)
	}
}
