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

// readBuffer and writeBuffer are the sizes of a socket's buffers in bytes. They are small, because even an idle
// socket keeps its buffers. For comparison, the buffers of net/http have 4 KiB each. Messages of clients are short,
// and the WebSocket library reads longer ones without the buffer. The write buffer fits an uncompressed message with
// its frame header of at most 14 bytes (RFC 6455 section 5.2).
const readBuffer, writeBuffer = 512, watch.CompressFrom + 14

// corkedConn is the network connection of a WebSocket. It sends everything that is written between cork and flush in
// one write. Without it, the WebSocket library makes at least one system call for each frame of a message.
type corkedConn struct {
	net.Conn

	limiter *frameLimiter // Limits the rate of received frames.

	acceptedBytes atomic.Int64 // Bytes that the client has accepted.
	acceptedAt    atomic.Int64 // When the client last accepted bytes, in Unix nanoseconds.

	mu     sync.Mutex // Locked during each write.
	corked bool
	pieces net.Buffers
	// Copies of short pieces. Longer pieces are not copied; they belong to the caller of Write.
	copies         *[]byte
	messageBuffers *sync.Pool
}

// hijacker is the ResponseWriter from which the WebSocket library takes over the connection of a request. The library
// gets that connection wrapped in conn.
type hijacker struct {
	http.ResponseWriter

	conn *corkedConn
}

// Hijack takes over the connection of the request, and returns it wrapped in conn.
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
	// These bytes arrived together with the request, which was already rate limited. Count their frames without a wait.
	a.conn.limiter.counter.add(early)
	reader := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), max(readBuffer, len(early)))
	// Fill the buffer with the early bytes, because the WebSocket library reads only those that are in the buffer.
	if _, err := reader.Peek(len(early)); err != nil {
		return nil, nil, err
	}
	return a.conn, bufio.NewReadWriter(reader, bufio.NewWriterSize(a.conn, writeBuffer)), nil
}

// Read reads from the connection, and then waits as long as the rate limits of received frames require.
func (o *corkedConn) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	if n > 0 {
		if ended := o.limiter.wait(p[:n]); ended != nil {
			return 0, ended
		}
	}
	return n, err
}

// Close closes the connection, and ends reads that wait for a rate limit.
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

// Write sends p, or collects it for flush. It copies data that fits the write buffer of the WebSocket library,
// because the library reuses that buffer. A longer p is not copied, because its caller does not change it before
// flush returns.
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

// flush sends the collected data. It keeps o.mu locked, so that no ping is sent between the pieces of a frame. Over
// TLS, each piece is a separate write.
func (o *corkedConn) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	pieces, copies := o.pieces, o.copies
	o.corked, o.pieces, o.copies = false, nil, nil
	defer o.messageBuffers.Put(copies)
	to := o.Conn
	if g, ok := to.(*limitedConn); ok {
		// Unwrap the TCP connection, which accepts all pieces in one system call.
		to = g.Conn
	}
	n, err := pieces.WriteTo(to)
	o.recordAccepted(n)
	return err
}

// recordAccepted records that the client, or the operating system on its behalf, has accepted bytes.
func (o *corkedConn) recordAccepted(bytes int64) {
	o.acceptedBytes.Add(bytes)
	o.acceptedAt.Store(time.Now().UnixNano())
}
