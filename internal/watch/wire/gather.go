package wire

import (
	"io"
	"time"
)

// gatherEvery is the shortest time between two reads of a long list, after its first gatherFrom bytes. An API server
// sends each object in a separate HTTP/2 frame. HTTP/2 wakes the reader for each frame, and answers it with two window
// updates. For 10,000 pods, this took a fifth of the processor time and a tenth of the total time.
const gatherEvery, gatherFrom = 4 * time.Millisecond, 256 << 10

// gatherer reads a long list in large pieces, and all other data without delay.
type gatherer struct {
	from io.Reader
	list bool      // The data belongs to a list.
	read int       // Bytes of the list so far.
	last time.Time // Time of the last Read that returned all available data.
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
