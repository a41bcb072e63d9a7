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

// outgoing is the network connection of a socket. It sends everything that is written between gather and flush in one
// write. Without this, the library makes at least one system call for each frame of a message.
type outgoing struct {
	net.Conn

	in *incoming // Limits the rate of received frames.

	taken    atomic.Int64 // Bytes that the client has accepted.
	progress atomic.Int64 // When the client last accepted bytes, in Unix nanoseconds.

	mu        sync.Mutex // Locked during a write.
	gathering bool
	pieces    net.Buffers
	own       *[]byte // Copies of short pieces; other pieces belong to the caller.
	papers    *sync.Pool
}

// accepting is the ResponseWriter from which the WebSocket library takes the connection of a request. It wraps the
// connection in out.
type accepting struct {
	http.ResponseWriter

	out *outgoing
}

// Hijack returns the connection, wrapped in out.
func (a *accepting) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	a.out.Conn = conn
	early, err := buffers.Peek(buffers.Reader.Buffered())
	if err != nil {
		return nil, nil, err
	}
	a.out.in.frames.of(early) // These bytes arrived with the request, which has already been rate limited.
	in := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), max(readBuffer, len(early)))
	if _, err := in.Peek(len(early)); err != nil { // The library reads only what is in the buffer.
		return nil, nil, err
	}
	return a.out, bufio.NewReadWriter(in, bufio.NewWriterSize(a.out, writeBuffer)), nil
}

// Read reads from the connection, then waits as the rate limits require.
func (o *outgoing) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	if n > 0 {
		if ended := o.in.take(p[:n]); ended != nil {
			return 0, ended
		}
	}
	return n, err
}

// Close closes the connection and ends waiting reads.
func (o *outgoing) Close() error {
	o.in.end()
	return o.Conn.Close()
}

// gather makes Write collect data until flush is called. The data must stay unchanged until flush has returned.
func (o *outgoing) gather() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gathering = true
	own, ok := o.papers.Get().(*[]byte)
	if !ok {
		own = new([]byte)
	}
	*own, o.own = (*own)[:0], own
}

// Write writes p, or collects it for flush. It copies data that fits the write buffer, because the library reuses that
// buffer. A longer p is not copied: its caller does not change it before flush returns.
func (o *outgoing) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.gathering {
		n, err := o.Conn.Write(p)
		o.take(int64(n))
		return n, err
	}
	if len(p) <= writeBuffer {
		from := len(*o.own)
		*o.own = append(*o.own, p...)
		p = (*o.own)[from:]
	}
	o.pieces = append(o.pieces, p)
	return len(p), nil
}

// flush writes the collected data. It keeps o.mu locked, so that no ping gets between the pieces of a frame. Over TLS,
// each piece is a separate write.
func (o *outgoing) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	pieces, own := o.pieces, o.own
	o.gathering, o.pieces, o.own = false, nil, nil
	defer o.papers.Put(own)
	to := o.Conn
	if g, ok := to.(*limitedConn); ok {
		to = g.Conn // A TCP connection accepts all pieces in one call.
	}
	n, err := pieces.WriteTo(to)
	o.take(n)
	return err
}

// take records that the client, or its kernel, has accepted bytes.
func (o *outgoing) take(bytes int64) {
	o.taken.Add(bytes)
	o.progress.Store(time.Now().UnixNano())
}
