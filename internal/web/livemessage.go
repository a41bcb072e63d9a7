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
	"glasshouse/internal/watch"
)

// write sends one message. members is the JSON text of the message's members, without the id. If uncompressed is set,
// the message is not compressed, however long it is.
func (l *session) write(ctx context.Context, members []byte, id *int, uncompressed bool) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.watchdog.begin()
	defer l.watchdog.end()
	// Do not cancel the write with ctx: the end of a subscription must not end the connection in the middle of a frame.
	// The watchdog limits the time of the write. A context with a deadline would cost as much time as the rest of the
	// write.
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

// reserve reserves memory for a message of the session.
func (l *session) reserve(ctx context.Context, bytes int64) (*limit.Reservation, error) {
	m := &reservedMessage{session: l, acceptedBefore: l.netConn.acceptedBytes.Load()}
	defer func() { m.reservedAt.Store(time.Now().UnixNano()) }()
	return l.server.budget.Reserve(ctx, l.caller, bytes, m)
}

// reservedMessage is a message for which memory is reserved, until it is sent.
type reservedMessage struct {
	session    *session
	reservedAt atomic.Int64 // In Unix nanoseconds; 0 until the memory is reserved.
	// acceptedBefore is the value of session.netConn.acceptedBytes when the reservation was requested.
	acceptedBefore int64
}

// Behind implements limit.Response. It returns the larger of two times. One is how long the client has accepted no
// data. The other is how far the client is behind a client that accepts rate bytes per second. Bytes of other
// messages count as well, because these messages are sent first.
func (m *reservedMessage) Behind(rate int64) time.Duration {
	reservedAt := m.reservedAt.Load()
	if reservedAt == 0 {
		return 0
	}
	conn := m.session.netConn
	stalled := time.Since(time.Unix(0, max(reservedAt, conn.acceptedAt.Load())))
	return max(stalled, time.Since(time.Unix(0, reservedAt))-timeFor(conn.acceptedBytes.Load()-m.acceptedBefore, rate))
}

// Abort implements limit.Response. It ends the connection.
func (m *reservedMessage) Abort() { m.session.cancel() }

// appendMessageStart appends the beginning of a message to dst, with the id unless it is nil.
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

// sendUncompressed writes a message without compression, and without copying it. The library decides by the length of
// the first written piece whether to compress a message. The first piece is therefore short.
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

// rejectMessage reports an invalid message to the client. It closes the connection if the client has sent more than
// maxInvalidMessages of them.
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
		return // Cannot happen: strings and a number can always be encoded.
	}
	_ = l.write(ctx, append([]byte(`"type":"error","problem":`), text...), id, true) // A failed write ends the session.
}
