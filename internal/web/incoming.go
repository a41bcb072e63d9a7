package web

import (
	"encoding/binary"
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// frameRate is how many frames a second are taken of a socket, after frameBurst at
	// once: pings, pongs, and the pieces that a message may come in, which the library
	// answers, or puts together, before anybody here is told. frameBytes of them count
	// as one more.
	frameRate, frameBurst = 200, 2000
	// addressFrames are those of all sockets of one address a second, after
	// addressFrameBurst at once: a thousand tabs that come back together each answer the
	// ping behind each part of what they are told.
	addressFrames, addressFrameBurst = 2000, 20_000
	frameBytes                       = 4 << 10
)

// incoming holds up what comes by a socket faster than it is taken. It is its
// reader's, but for end.
type incoming struct {
	frames frameCount
	paces  []*rate.Limiter

	once  sync.Once
	ended chan struct{}
}

func newIncoming(paces []*rate.Limiter) *incoming {
	return &incoming{paces: paces, ended: make(chan struct{})}
}

// take waits for the turn of what was read.
func (i *incoming) take(p []byte) error {
	n := i.frames.of(p)
	for _, pace := range i.paces {
		wait := pace.ReserveN(time.Now(), min(n, pace.Burst())).Delay()
		if wait <= 0 {
			continue
		}
		turn := time.NewTimer(wait)
		select {
		case <-turn.C:
		case <-i.ended:
			turn.Stop()
			return net.ErrClosed
		}
	}
	return nil
}

// end ends what is waited for.
func (i *incoming) end() { i.once.Do(func() { close(i.ended) }) }

// frameCount counts the frames of a stream (RFC 6455 section 5.2).
type frameCount struct {
	head  [14]byte
	read  int    // Of the head of the frame that is coming.
	rest  uint64 // Of the text of the one that has begun.
	bytes int    // That have not been counted.
}

// of is how many frames begin in what comes next, and one for each frameBytes.
func (c *frameCount) of(p []byte) (n int) {
	c.bytes += len(p)
	n, c.bytes = c.bytes/frameBytes, c.bytes%frameBytes
	for len(p) > 0 {
		if c.rest > 0 {
			text := min(c.rest, uint64(len(p)))
			c.rest -= text
			p = p[text:]
			continue
		}
		c.head[c.read] = p[0]
		c.read++
		p = p[1:]
		if length, whole := c.length(); whole {
			c.read, c.rest = 0, length
			n++
		}
	}
	return n
}

// length is that of the text of a frame of which the head has come.
func (c *frameCount) length() (length uint64, whole bool) {
	if c.read < 2 {
		return 0, false
	}
	size, length := 2, uint64(c.head[1]&0x7f)
	switch length {
	case 126:
		size, length = 4, uint64(binary.BigEndian.Uint16(c.head[2:]))
	case 127:
		size, length = 10, binary.BigEndian.Uint64(c.head[2:])
	}
	if c.head[1]&0x80 != 0 { // It is masked.
		size += 4
	}
	return length, c.read == size
}
