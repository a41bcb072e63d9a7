package live

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

func (c *connection) reserve(ctx context.Context, bytes int64) (*limit.Reservation, error) {
	m := &reservedMessage{conn: c}
	m.acceptedBefore, _ = c.netConn.Accepted()
	defer func() { m.reservedAt.Store(time.Now().UnixNano()) }()
	return c.sockets.deps.Limits.Budget.Reserve(ctx, c.caller, bytes, m)
}

// reservedMessage implements limit.Response for a message whose memory is reserved until the message is sent.
type reservedMessage struct {
	conn       *connection
	reservedAt atomic.Int64 // Unix nanoseconds; 0 before the memory is reserved.
	// acceptedBefore is the number of bytes that conn.netConn had accepted when the method reserve was called.
	acceptedBefore int64
}

// Behind implements limit.Response. It returns the longer of two durations: the time since the client last accepted
// data, and the delay of the message compared with a client that accepts rate bytes per second.
func (m *reservedMessage) Behind(rate int64) time.Duration {
	reservedAt := m.reservedAt.Load()
	if reservedAt == 0 {
		return 0
	}
	acceptedBytes, acceptedAt := m.conn.netConn.Accepted()
	stalled := time.Since(time.Unix(0, max(reservedAt, acceptedAt)))
	return max(stalled, time.Since(time.Unix(0, reservedAt))-response.TimeFor(acceptedBytes-m.acceptedBefore, rate))
}

// Abort implements limit.Response. It ends the session.
func (m *reservedMessage) Abort() { m.conn.cancel() }
