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

// CorkedConn is the network connection of a WebSocket. flush sends all data written since cork in one write. Without
// CorkedConn, the WebSocket library makes at least one system call for each frame of a message.
type CorkedConn struct {
	net.Conn

	limiter *frameLimiter // Limits the rate of received frames.

	acceptedBytes atomic.Int64 // Bytes that the network connection has accepted so far.
	acceptedAt    atomic.Int64 // Time of the last write that accepted bytes, in Unix nanoseconds.

	mu     sync.Mutex // Locked during each write.
	corked bool
	pieces net.Buffers
	// copies contains copies of the short pieces. Long pieces are not copied and belong to the caller of Write.
	copies         *[]byte
	messageBuffers *sync.Pool
}

// NewCorkedConn returns a CorkedConn without a network connection, which the Hijack method of Hijacker sets. limiters
// limit the rate of received frames. messageBuffers is a pool of *[]byte.
func NewCorkedConn(limiters []*rate.Limiter, messageBuffers *sync.Pool) *CorkedConn {
	return &CorkedConn{limiter: newFrameLimiter(limiters), messageBuffers: messageBuffers}
}

// Hijacker returns the ResponseWriter for websocket.Accept. Its Hijack method takes over the connection of w.
func (o *CorkedConn) Hijacker(w http.ResponseWriter) http.ResponseWriter { return &hijacker{w, o} }

// Accepted returns how many bytes the network connection has accepted so far, and the time of the last write that it
// accepted, in Unix nanoseconds.
func (o *CorkedConn) Accepted() (bytes, at int64) { return o.acceptedBytes.Load(), o.acceptedAt.Load() }

// hijacker is the ResponseWriter for websocket.Accept. The WebSocket library takes over the connection by Hijack, and
// then reads and writes through conn.
type hijacker struct {
	http.ResponseWriter

	conn *CorkedConn
}

// Hijack implements http.Hijacker. It wraps the connection of the request in conn.
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
	// early arrived together with the upgrade request, which was already rate limited. Count its frames without
	// waiting.
	a.conn.limiter.counter.add(early)
	reader := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), max(readBuffer, len(early)))
	// Fill the buffer with early, because the WebSocket library only uses early bytes that are in the buffer.
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

// Close closes the connection, and ends a Read that waits for a rate limit.
func (o *CorkedConn) Close() error {
	o.limiter.stop()
	return o.Conn.Close()
}

// Cork makes Write collect data until flush is called. Callers must not modify collected long data before flush
// returns.
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

// Write sends p, or collects p for flush after a call of cork. The WebSocket library reuses its write buffer, so data
// that fits the buffer is copied. Longer data is not copied, because its caller does not modify it before flush
// returns.
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

// Flush sends the collected data. It keeps o.mu locked, because a ping between the pieces would corrupt the frame.
// Over TLS, each piece is a separate write.
func (o *CorkedConn) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	pieces, copies := o.pieces, o.copies
	o.corked, o.pieces, o.copies = false, nil, nil
	defer o.messageBuffers.Put(copies)
	to := o.Conn
	if g, ok := to.(*Conn); ok {
		// A *net.TCPConn writes all pieces in one system call, but a Conn does not.
		to = g.Conn
	}
	n, err := pieces.WriteTo(to)
	o.recordAccepted(n)
	return err
}

// recordAccepted counts bytes that the operating system has accepted for the client.
func (o *CorkedConn) recordAccepted(bytes int64) {
	o.acceptedBytes.Add(bytes)
	o.acceptedAt.Store(time.Now().UnixNano())
}
