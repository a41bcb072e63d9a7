package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch/stream"
)

// write sends one message. members is the JSON text of its members, without the id. If uncompressed is set, the
// message is never compressed.
func (l *session) write(ctx context.Context, members []byte, id *int, uncompressed bool) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.watchdog.begin()
	defer l.watchdog.end()
	// Do not cancel the write with ctx: a canceled write ends the connection, but ctx can end with only its
	// subscription. The watchdog limits the duration of the write. A context with a deadline would double the cost of a
	// write.
	ctx = context.WithoutCancel(ctx)
	var err error
	if uncompressed && len(members) >= stream.CompressFrom {
		err = l.sendUncompressed(ctx, members, id)
	} else {
		err = l.send(ctx, members, id)
	}
	if err != nil {
		l.abort()
	}
	return err
}

// reserve reserves memory for a message of the session in the memory budget of the server.
func (l *session) reserve(ctx context.Context, bytes int64) (*limit.Reservation, error) {
	m := &reservedMessage{session: l, acceptedBefore: l.netConn.acceptedBytes.Load()}
	defer func() { m.reservedAt.Store(time.Now().UnixNano()) }()
	return l.server.budget.Reserve(ctx, l.caller, bytes, m)
}

// reservedMessage implements limit.Response for a message whose memory is reserved until the message is sent.
type reservedMessage struct {
	session    *session
	reservedAt atomic.Int64 // Unix nanoseconds; 0 before the memory is reserved.
	// acceptedBefore is the value of session.netConn.acceptedBytes at the time of the request for memory.
	acceptedBefore int64
}

// Behind implements limit.Response. It returns the longer of two durations: how long the client has accepted no data,
// and how far it lags behind rate bytes per second. Bytes of other messages of the session count as progress, because
// they are sent first.
func (m *reservedMessage) Behind(rate int64) time.Duration {
	reservedAt := m.reservedAt.Load()
	if reservedAt == 0 {
		return 0
	}
	conn := m.session.netConn
	stalled := time.Since(time.Unix(0, max(reservedAt, conn.acceptedAt.Load())))
	return max(stalled, time.Since(time.Unix(0, reservedAt))-timeFor(conn.acceptedBytes.Load()-m.acceptedBefore, rate))
}

// Abort implements limit.Response. It ends the session.
func (m *reservedMessage) Abort() { m.session.cancel() }

// appendMessageStart appends "{" to dst, and the member id if id is not nil.
func appendMessageStart(dst []byte, id *int) []byte {
	dst = append(dst, '{')
	if id != nil {
		dst = append(strconv.AppendInt(append(dst, `"id":`...), int64(*id), 10), ',')
	}
	return dst
}

// send writes a message as one WebSocket frame. It copies the message into a pooled buffer.
func (l *session) send(ctx context.Context, members []byte, id *int) error {
	text, ok := l.server.messageBuffers.Get().(*[]byte)
	if !ok {
		text = new([]byte)
	}
	defer l.server.messageBuffers.Put(text)
	*text = append(append(appendMessageStart((*text)[:0], id), members...), '}')
	return l.conn.Write(ctx, websocket.MessageText, *text)
}

// sendUncompressed writes a message without compression and without a copy. The WebSocket library compresses a
// message if its first piece is long, so the first piece is short.
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

// rejectMessage sends an error for an invalid message. After more than maxInvalidMessages of them, it closes the
// connection.
func (l *session) rejectMessage(ctx context.Context, err error) {
	l.invalidMessages++
	if l.invalidMessages > maxInvalidMessages {
		l.close(websocket.StatusPolicyViolation, "too many invalid messages; see the last errors")
		return
	}
	l.sendProblem(ctx, nil, err)
}

// sendProblem sends err as an error message. id is the id of the subscription, or nil if the error belongs to none.
func (l *session) sendProblem(ctx context.Context, id *int, err error) {
	p := problemFor(l.identity.Viewer, err)
	p.Type = "about:blank"
	if p.Status == http.StatusInternalServerError {
		l.server.log.ErrorContext(ctx, "subscription failed", "error", err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return // Cannot happen: strings and a number can always be encoded.
	}
	_ = l.write(ctx, append([]byte(`"type":"error","problem":`), text...), id, true) // A failed write ends the session.
}
