package stream

import (
	"context"
	"math/bits"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
)

// coalescer decides how long a reader pauses between two messages. After a delayed message, the next pause is longer.
type coalescer struct {
	every  time.Duration
	fanOut func() int
	slot   int
	until  time.Time
	oldest time.Time
}

const (
	// After a late message, the reader pauses for latencyFactor times the delay of this message.
	latencyFactor = 3
	// maxDelay is the maximum length of a pause that follows a late message.
	maxDelay = 50 * time.Millisecond
	// With fanOutMinimum or more readers, each reader sends at most one message per interval. The interval is fanOutRound
	// at first, and grows with the number of readers (400 ms for 1,000). The readers form fanOutSlots groups, which send
	// at different times of the interval.
	fanOutMinimum, fanOutRound, fanOutSlots = 128, 100 * time.Millisecond, 8
)

func (c *coalescer) recordStart(oldest time.Time) { c.oldest = oldest }

// recordSent computes the next pause after a message was sent. A longer delay of the message causes a longer pause. The
// delay began with the oldest change in the message, or with the end of the last pause if that was later.
func (c *coalescer) recordSent() {
	if c.oldest.IsZero() {
		return
	}
	now, due := time.Now(), c.oldest
	if c.until.After(due) {
		due = c.until
	}
	c.until = now.Add(max(c.every, min(latencyFactor*now.Sub(due), maxDelay)))
	if c.fanOut != nil {
		c.until = c.until.Add(c.slotDelay(c.until, c.fanOut()))
	}
	c.oldest = time.Time{}
}

// slotDelay returns the time from start to the reader's next time slot. Readers with the same slot send at the same
// time, so that they share the encoded text.
func (c *coalescer) slotDelay(start time.Time, readers int) time.Duration {
	if readers < fanOutMinimum {
		return 0
	}
	//nolint:gosec // The result is not negative.
	round := int64(fanOutRound) << (bits.Len(uint(readers/fanOutMinimum)) - 1)
	elapsed := (start.UnixNano() - round/fanOutSlots*int64(c.slot)) % round
	return time.Duration(round - elapsed)
}

func (c *coalescer) isPausing() bool { return time.Until(c.until) > 0 }

// pause waits until the present pause or ctx ends. If there is no pause, it returns false at once.
func (c *coalescer) pause(ctx context.Context) bool {
	duration := time.Until(c.until)
	if duration <= 0 {
		return false
	}
	signal.Sleep(ctx, duration)
	return true
}
