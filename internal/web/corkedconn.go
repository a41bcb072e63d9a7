package web

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"glasshouse/internal/watch"
)

// An idle socket keeps its buffers, so they are small. The net/http buffers have 4 KiB each. Client messages are short,
// and the library reads longer ones without the buffer. The write buffer fits an uncompressed message with its frame
// header of at most 14 bytes (RFC 6455 section 5.2).
const readBuffer, writeBuffer = 512, watch.CompressFrom + 14

// corkedConn is the network connection of a socket. It sends everything that is written between gather and flush in one
// write. Without this, the library makes at least one system call for each frame of a message.
type corkedConn struct {
	net.Conn

	limiter *frameLimiter // Limits the rate of received frames.

	acceptedBytes atomic.Int64 // Bytes that the client has accepted.
	acceptedAt    atomic.Int64 // When the client last accepted bytes, in Unix nanoseconds.

	mu             sync.Mutex // Locked during a write.
	corked         bool
	pieces         net.Buffers
	copies         *[]byte // Copies of short pieces; other pieces belong to the caller.
	messageBuffers *sync.Pool
}

// hijacker is the ResponseWriter from which the WebSocket library takes the connection of a request. It wraps the
// connection in out.
type hijacker struct {
	http.ResponseWriter

	conn *corkedConn
}

// Hijack returns the connection, wrapped in out.
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
	a.conn.limiter.counter.add(early) // These bytes arrived with the request, which has already been rate limited.
	reader := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), max(readBuffer, len(early)))
	if _, err := reader.Peek(len(early)); err != nil { // The library reads only what is in the buffer.
		return nil, nil, err
	}
	return a.conn, bufio.NewReadWriter(reader, bufio.NewWriterSize(a.conn, writeBuffer)), nil
}

// Read reads from the connection, then waits as the rate limits require.
func (o *corkedConn) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	if n > 0 {
		if ended := o.limiter.wait(p[:n]); ended != nil {
			return 0, ended
		}
	}
	return n, err
}

// Close closes the connection and ends waiting reads.
func (o *corkedConn) Close() error {
	o.limiter.stop()
	return o.Conn.Close()
}

// cork makes Write collect data until flush is called. The data must stay unchanged until flush has returned.
func (o *corkedConn) cork() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.corked = true
	copies, ok := o.messageBuffers.Get().(*[]byte)
	if !ok {
		copies = new([]byte)
	}
	*copies, o.copies = (*copies)[:0], copies
}

// Write writes p, or collects it for flush. It copies data that fits the write buffer, because the library reuses that
// buffer. A longer p is not copied: its caller does not change it before flush returns.
func (o *corkedConn) Write(p []byte) (int, error) {
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

// flush writes the collected data. It keeps o.mu locked, so that no ping gets between the pieces of a frame. Over TLS,
// each piece is a separate write.
func (o *corkedConn) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	pieces, copies := o.pieces, o.copies
	o.corked, o.pieces, o.copies = false, nil, nil
	defer o.messageBuffers.Put(copies)
	to := o.Conn
	if g, ok := to.(*limitedConn); ok {
		to = g.Conn // A TCP connection accepts all pieces in one call.
	}
	n, err := pieces.WriteTo(to)
	o.recordAccepted(n)
	return err
}

// recordAccepted records that the client, or its kernel, has accepted bytes.
func (o *corkedConn) recordAccepted(bytes int64) {
	o.acceptedBytes.Add(bytes)
	o.acceptedAt.Store(time.Now().UnixNano())
}
