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

	"glasshouse/internal/watch/stream"

	"golang.org/x/time/rate"
)

// readBuffer and writeBuffer are the sizes, in bytes, of the buffers of one WebSocket. They are small, because an
// idle WebSocket keeps its buffers, and net/http would use 4 KiB for each. Clients send short messages, and the
// WebSocket library does not need the buffer for long ones. The write buffer fits an uncompressed message with a
// frame header of at most 14 bytes (RFC 6455 section 5.2).
const readBuffer, writeBuffer = 512, stream.CompressFrom + 14

// CorkedConn is the network connection of a WebSocket. After a call of Cork, it collects the written data, and Flush
// sends all of it in one write. Without CorkedConn, the WebSocket library makes at least one system call for each
// frame of a message.
type CorkedConn struct {
	net.Conn

	limiter *frameLimiter

	acceptedBytes atomic.Int64 // Bytes that the network connection has accepted so far.
	acceptedAt    atomic.Int64 // Time of the last write that accepted bytes, in Unix nanoseconds.

	mu     sync.Mutex
	corked bool
	pieces net.Buffers
	// copies contains copies of the short pieces of collected data. Long pieces are not copied, and belong to the
	// caller of Write.
	copies         *[]byte
	messageBuffers *sync.Pool
}

// NewCorkedConn returns a CorkedConn without a network connection. The method Hijack of the ResponseWriter that
// Hijacker returns sets the connection. The parameter limiters limits the rate of received frames, and messageBuffers
// is a pool of *[]byte.
func NewCorkedConn(limiters []*rate.Limiter, messageBuffers *sync.Pool) *CorkedConn {
	return &CorkedConn{limiter: newFrameLimiter(limiters), messageBuffers: messageBuffers}
}

// Hijacker returns the ResponseWriter for websocket.Accept. Its Hijack method takes over the connection of w.
func (o *CorkedConn) Hijacker(w http.ResponseWriter) http.ResponseWriter { return &hijacker{w, o} }

// Accepted returns how many bytes the network connection has accepted so far, and the time of the last write that it
// accepted, in Unix nanoseconds.
func (o *CorkedConn) Accepted() (bytes, at int64) { return o.acceptedBytes.Load(), o.acceptedAt.Load() }

type hijacker struct {
	http.ResponseWriter

	conn *CorkedConn
}

func (a *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	a.conn.Conn = conn
	early, err := buffers.Peek(buffers.Reader.Buffered())
	if err != nil {
		return nil, nil, err
	}
	// The bytes in early arrived together with the upgrade request, which was already rate limited. Count their
	// frames without waiting.
	a.conn.limiter.counter.add(early)
	reader := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), max(readBuffer, len(early)))
	// Fill the buffer with the bytes in early, because the WebSocket library only uses early bytes from the buffer.
	if _, err := reader.Peek(len(early)); err != nil {
		return nil, nil, err
	}
	return a.conn, bufio.NewReadWriter(reader, bufio.NewWriterSize(a.conn, writeBuffer)), nil
}

// Read reads from the connection, and then waits as long as the rate limits for received frames require.
func (o *CorkedConn) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	if n > 0 {
		if ended := o.limiter.wait(p[:n]); ended != nil {
			return 0, ended
		}
	}
	return n, err
}

// Close closes the connection, and ends a call of Read that waits for a rate limit.
func (o *CorkedConn) Close() error {
	o.limiter.stop()
	return o.Conn.Close()
}

// Cork makes Write collect data until Flush is called. Callers must not modify data that is longer than writeBuffer
// before Flush returns, because Write does not copy it.
func (o *CorkedConn) Cork() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.corked = true
	copies, ok := o.messageBuffers.Get().(*[]byte)
	if !ok {
		copies = new([]byte)
	}
	*copies, o.copies = (*copies)[:0], copies
}

// Write sends p. After a call of Cork, it instead collects p for Flush. It copies data that fits the write buffer of
// the WebSocket library, because the library reuses that buffer. It does not copy longer data, because the caller
// does not modify it before Flush returns.
func (o *CorkedConn) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.corked {
		n, err := o.Conn.Write(p)
		o.recordAccepted(int64(n))
		return n, err
	}
	if len(p) <= writeBuffer {
		from := len(*o.copies)
		*o.copies = append(*o.copies, p...)
		p = (*o.copies)[from:]
	}
	o.pieces = append(o.pieces, p)
	return len(p), nil
}

// Flush sends the collected data. It keeps o.mu locked, because a ping that is written between the pieces would
// corrupt the frame. Over TLS, each piece is a separate write.
func (o *CorkedConn) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	pieces, copies := o.pieces, o.copies
	o.corked, o.pieces, o.copies = false, nil, nil
	defer o.messageBuffers.Put(copies)
	to := o.Conn
	if g, ok := to.(*Conn); ok {
		// Use the inner connection: a *net.TCPConn writes all pieces in one system call, but a Conn does not.
		to = g.Conn
	}
	n, err := pieces.WriteTo(to)
	o.recordAccepted(n)
	return err
}

func (o *CorkedConn) recordAccepted(bytes int64) {
	o.acceptedBytes.Add(bytes)
	o.acceptedAt.Store(time.Now().UnixNano())
}
