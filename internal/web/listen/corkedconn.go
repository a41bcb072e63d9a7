package listen

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/messages"

	"golang.org/x/time/rate"
)

// WriteTimeout is the maximum time for writing a message of a WebSocket, or a part of a log.
const WriteTimeout = 10 * time.Second

// Buffer sizes of one WebSocket, in bytes. Idle WebSockets keep them. Frame headers have at most 14 bytes (RFC 6455
// section 5.2).
const readBuffer, writeBuffer = 512, messages.CompressFrom + 14

// CorkedConn is the network connection of a WebSocket. Between Cork and Flush, it collects writes, because the
// WebSocket library makes at least one system call for each frame.
type CorkedConn struct {
	net.Conn

	limiter *frameLimiter

	acceptedBytes atomic.Int64 // Bytes that the network connection has accepted so far.
	acceptedAt    atomic.Int64 // When the network connection last accepted bytes, in Unix nanoseconds.

	mu     sync.Mutex
	corked bool
	pieces net.Buffers
	// copies contains the bytes of short pieces. The bytes of long pieces stay in the buffer that the caller passed to
	// Write.
	copies         *[]byte
	messageBuffers *sync.Pool
}

// NewCorkedConn returns a CorkedConn whose network connection is set by Hijacker. The pool messageBuffers contains
// *[]byte.
func NewCorkedConn(limiters []*rate.Limiter, messageBuffers *sync.Pool) *CorkedConn {
	return &CorkedConn{limiter: newFrameLimiter(limiters), messageBuffers: messageBuffers}
}

// Hijacker returns the ResponseWriter for websocket.Accept. Its Hijack method takes over the connection of w.
func (c *CorkedConn) Hijacker(w http.ResponseWriter) http.ResponseWriter { return &hijacker{w, c} }

// Accepted returns the total bytes that the network connection has accepted, and the time of the last accepted write,
// in Unix nanoseconds.
func (c *CorkedConn) Accepted() (bytes, at int64) { return c.acceptedBytes.Load(), c.acceptedAt.Load() }

type hijacker struct {
	http.ResponseWriter

	conn *CorkedConn
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.conn.Conn = conn
	early, err := buffers.Peek(buffers.Reader.Buffered())
	if err != nil {
		return nil, nil, err
	}
	// Count the frames in these bytes without waiting, because they arrived together with the upgrade request, which was
	// already rate limited.
	h.conn.limiter.counter.add(early)
	reader := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), max(readBuffer, len(early)))
	// Call Peek to move the early bytes into the buffer of the reader: the WebSocket library reads them only from there.
	if _, err := reader.Peek(len(early)); err != nil {
		return nil, nil, err
	}
	return h.conn, bufio.NewReadWriter(reader, bufio.NewWriterSize(h.conn, writeBuffer)), nil
}

// Read reads from the connection, and then waits as long as the rate limits for received frames require.
func (c *CorkedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		if ended := c.limiter.wait(p[:n]); ended != nil {
			return 0, ended
		}
	}
	return n, err
}

// Close closes the connection, and ends a call of Read that waits for a rate limit.
func (c *CorkedConn) Close() error {
	c.limiter.stop()
	return c.Conn.Close()
}

// Cork makes Write collect data until Flush is called. Write does not copy data of more than writeBuffer bytes, so the
// caller must not modify such data before Flush returns.
func (c *CorkedConn) Cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = true
	copies, ok := c.messageBuffers.Get().(*[]byte)
	if !ok {
		copies = new([]byte)
	}
	*copies, c.copies = (*copies)[:0], copies
}

// Write sends p or, between Cork and Flush, only collects it. It copies short data that it collects, because the
// WebSocket library reuses its buffer.
func (c *CorkedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.corked {
		n, err := c.Conn.Write(p)
		c.recordAccepted(int64(n))
		return n, err
	}
	if len(p) <= writeBuffer {
		from := len(*c.copies)
		*c.copies = append(*c.copies, p...)
		p = (*c.copies)[from:]
	}
	c.pieces = append(c.pieces, p)
	return len(p), nil
}

// Flush sends the collected data. It keeps c.mu locked, so that no ping is sent between two pieces of a frame.
func (c *CorkedConn) Flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	pieces, copies := c.pieces, c.copies
	c.corked, c.pieces, c.copies = false, nil, nil
	defer c.messageBuffers.Put(copies)
	to := c.Conn
	if g, ok := to.(*Conn); ok {
		// Use the inner connection: a *net.TCPConn writes all pieces in one system call, but a Conn does not.
		to = g.Conn
	}
	n, err := pieces.WriteTo(to)
	c.recordAccepted(n)
	return err
}

func (c *CorkedConn) recordAccepted(bytes int64) {
	c.acceptedBytes.Add(bytes)
	c.acceptedAt.Store(time.Now().UnixNano())
}
