package web

import (
	"bufio"
	"net"
	"net/http"
	"sync"
)

// buffered is the size of the buffer that net/http gives with a connection.
const buffered = 4 << 10

// outgoing is the connection of a socket. What is written between gather and flush
// goes out together: the library writes a message of several frames in as many
// calls of the system as that has ends.
type outgoing struct {
	net.Conn

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
	buffers.Writer.Reset(a.out)
	return a.out, buffers, nil
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
		return o.Conn.Write(p)
	}
	if len(p) <= buffered {
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
	if g, ok := to.(*guest); ok {
		to = g.Conn // Which takes all pieces in one call.
	}
	_, err := pieces.WriteTo(to)
	return err
}
