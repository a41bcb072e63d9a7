package listen

import (
	"encoding/binary"
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// frameBytes is the number of received bytes that count as one additional frame in the rate limit of frames.
const frameBytes = 4 << 10

// frameLimiter delays the reads of a WebSocket with too many frames. Only the method stop is safe for concurrent use.
type frameLimiter struct {
	counter  frameCounter
	limiters []*rate.Limiter

	once  sync.Once
	ended chan struct{}
}

func newFrameLimiter(limiters []*rate.Limiter) *frameLimiter {
	return &frameLimiter{limiters: limiters, ended: make(chan struct{})}
}

// wait counts the frames in p, and then waits until the rate limits allow that number.
func (f *frameLimiter) wait(p []byte) error {
	n := f.counter.add(p)
	for _, limiter := range f.limiters {
		delay := limiter.ReserveN(time.Now(), min(n, limiter.Burst())).Delay()
		if delay <= 0 {
			continue
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-f.ended:
			timer.Stop()
			return net.ErrClosed
		}
	}
	return nil
}

func (f *frameLimiter) stop() { f.once.Do(func() { close(f.ended) }) }

// frameCounter counts the WebSocket frames in a byte stream (RFC 6455 section 5.2).
type frameCounter struct {
	head      [14]byte
	headLen   int
	remaining uint64 // Payload bytes of the current frame that were not received yet.
	bytes     int
}

// add returns how many frames the received bytes p count as: one for each complete frame header, and one for every
// frameBytes received bytes.
func (c *frameCounter) add(p []byte) (n int) {
	c.bytes += len(p)
	n, c.bytes = c.bytes/frameBytes, c.bytes%frameBytes
	for len(p) > 0 {
		if c.remaining > 0 {
			payload := min(c.remaining, uint64(len(p)))
			c.remaining -= payload
			p = p[payload:]
			continue
		}
		c.head[c.headLen] = p[0]
		c.headLen++
		p = p[1:]
		if length, isComplete := c.payloadLength(); isComplete {
			c.headLen, c.remaining = 0, length
			n++
		}
	}
	return n
}

func (c *frameCounter) payloadLength() (length uint64, isComplete bool) {
	if c.headLen < 2 {
		return 0, false
	}
	size, length := 2, uint64(c.head[1]&0x7f)
	switch length {
	case 126:
		size, length = 4, uint64(binary.BigEndian.Uint16(c.head[2:]))
	case 127:
		size, length = 10, binary.BigEndian.Uint64(c.head[2:])
	}
	if c.head[1]&0x80 != 0 { // A masking key of 4 bytes follows.
		size += 4
	}
	return length, c.headLen == size
}
