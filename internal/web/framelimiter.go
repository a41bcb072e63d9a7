package web

import (
	"encoding/binary"
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// frameRate is how many WebSocket frames per second one socket may send, after frameBurst frames at once. Pings,
	// pongs and the fragments of a message count as well. The frames are counted on the network connection, because the
	// WebSocket library answers pings and joins fragments by itself. Every frameBytes received bytes count as one more
	// frame.
	frameRate, frameBurst = 200, 2000
	// addressFrames is the frame rate of all sockets of one address together, after addressFrameBurst frames at once.
	// The burst is large because a thousand tabs may reconnect together, and each answers the ping after each chunk of
	// its messages.
	addressFrames, addressFrameBurst = 2000, 20_000
	frameBytes                       = 4 << 10
)

// frameLimiter delays data that arrives on a socket faster than the frame rates allow. Only the goroutine that reads
// from the socket uses a frameLimiter, but any goroutine may call stop.
type frameLimiter struct {
	counter  frameCounter
	limiters []*rate.Limiter

	once  sync.Once
	ended chan struct{}
}

func newFrameLimiter(limiters []*rate.Limiter) *frameLimiter {
	return &frameLimiter{limiters: limiters, ended: make(chan struct{})}
}

// wait counts the frames in the bytes p, which were just read, and waits until the rate limits allow that many
// frames.
func (i *frameLimiter) wait(p []byte) error {
	n := i.counter.add(p)
	for _, limiter := range i.limiters {
		delay := limiter.ReserveN(time.Now(), min(n, limiter.Burst())).Delay()
		if delay <= 0 {
			continue
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-i.ended:
			timer.Stop()
			return net.ErrClosed
		}
	}
	return nil
}

// stop makes a waiting call of wait return an error at once.
func (i *frameLimiter) stop() { i.once.Do(func() { close(i.ended) }) }

// frameCounter counts the WebSocket frames in a stream of bytes (RFC 6455 section 5.2).
type frameCounter struct {
	head      [14]byte
	headLen   int    // Number of bytes of head that were read so far.
	remaining uint64 // Payload bytes of the current frame that were not read yet.
	bytes     int    // Received bytes that are fewer than frameBytes and do not count as a frame yet.
}

// add returns the number of frames that the bytes p of the stream count as. Each frame header that ends in p counts
// as one frame, and so does every frameBytes received.
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

// payloadLength returns the payload length of the frame whose header is in head. isComplete reports whether the
// complete header was read.
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
	if c.head[1]&0x80 != 0 { // The header has a masking key.
		size += 4
	}
	return length, c.headLen == size
}
