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

// A socket at rest holds its buffers, for which net/http gives 4 KiB each: what
// clients send is short, or read past the buffer, and what is sent in one piece is a
// message that is not compressed, with the 14 bytes at most of a frame's header (RFC
// 6455 section 5.2).
const readBuffer, writeBuffer = 512, watch.CompressFrom + 14

// outgoing is the connection of a socket. What is written between gather and flush
// goes out together: the library writes a message of several frames in as many
// calls of the system as that has ends.
type outgoing struct {
	net.Conn

	in *incoming // Holds up what is read.

	taken    atomic.Int64 // Bytes that the client has taken.
	progress atomic.Int64 // When it took the last of them, in Unix nanoseconds.

	mu        sync.Mutex // Held while something is written.
	gathering bool
	pieces    net.Buffers
	own       *[]byte // What of them is not somebody else's.
	papers    *sync.Pool
}

// accepting gives the connection of a request to a socket.
type accepting struct {
	http.ResponseWriter

	out *outgoing
}

// Hijack takes the connection over.
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
	a.out.in.frames.of(early) // They were read with the request, which has had its turn.
	in := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), max(readBuffer, len(early)))
	if _, err := in.Peek(len(early)); err != nil { // What is not in the buffer the library does not see.
		return nil, nil, err
	}
	return a.out, bufio.NewReadWriter(in, bufio.NewWriterSize(a.out, writeBuffer)), nil
}

// Read reads what comes, and waits for its turn.
func (o *outgoing) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	if n > 0 {
		if ended := o.in.take(p[:n]); ended != nil {
			return 0, ended
		}
	}
	return n, err
}

// Close closes the connection.
func (o *outgoing) Close() error {
	o.in.end()
	return o.Conn.Close()
}

// gather begins to hold what is written, all of which must stay as it is until
// flush has returned.
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

// Write writes p, or holds it. What comes out of a buffer is copied; what was
// too long for that is its owner's, who waits for flush.
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

// flush writes what was held, and nothing comes in between: where each piece is
// written by itself, as over TLS, a ping would be in the midst of a frame.
func (o *outgoing) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	pieces, own := o.pieces, o.own
	o.gathering, o.pieces, o.own = false, nil, nil
	defer o.papers.Put(own)
	to := o.Conn
	if g, ok := to.(*limitedConn); ok {
		to = g.Conn // Which takes all pieces in one call.
	}
	n, err := pieces.WriteTo(to)
	o.take(n)
	return err
}

// take records that the client, or its kernel, has taken bytes.
func (o *outgoing) take(bytes int64) {
	o.taken.Add(bytes)
	o.progress.Store(time.Now().UnixNano())
}
