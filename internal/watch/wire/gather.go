package wire

import (
	"io"
	"time"
)

// A long list is read no more often than each gatherEvery, once its first gatherFrom
// bytes are read. An API server sends each object in a frame of its own, and HTTP/2 wakes
// the reader for each and answers each with two window updates: of 10,000 pods that was a
// fifth of the processor time, and a tenth of the time.
const gatherEvery, gatherFrom = 4 * time.Millisecond, 256 << 10

// gatherer reads a long list in large pieces, and all else as it comes.
type gatherer struct {
	from io.Reader
	list bool      // What comes is of a list.
	read int       // Bytes of it so far.
	last time.Time // When a Read has taken all that there was.
}

func (g *gatherer) Read(p []byte) (int, error) {
	if !g.list {
		return g.from.Read(p)
	}
	if wait := gatherEvery - time.Since(g.last); wait > 0 && g.read >= gatherFrom {
		<-time.After(wait)
	}
	n, err := g.from.Read(p)
	g.read += n
	if n < len(p) {
		g.last = time.Now()
	}
	return n, err
}
