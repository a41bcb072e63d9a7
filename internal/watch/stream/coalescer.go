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

func (p *coalescer) recordStart(oldest time.Time) { p.oldest = oldest }

// recordSent computes the next pause after a message was sent. A longer delay of the message causes a longer pause. The
// delay began with the oldest change in the message, or with the end of the last pause if that was later.
func (p *coalescer) recordSent() {
	if p.oldest.IsZero() {
		return
	}
	now, due := time.Now(), p.oldest
	if p.until.After(due) {
		due = p.until
	}
	p.until = now.Add(max(p.every, min(latencyFactor*now.Sub(due), maxDelay)))
	if p.fanOut != nil {
		p.until = p.until.Add(p.slotDelay(p.until, p.fanOut()))
	}
	p.oldest = time.Time{}
}

// slotDelay returns the time from start to the reader's next time slot. Readers with the same slot send at the same
// time, so that they share the encoded text.
func (p *coalescer) slotDelay(start time.Time, readers int) time.Duration {
	if readers < fanOutMinimum {
		return 0
	}
	//nolint:gosec // The result is not negative.
	round := int64(fanOutRound) << (bits.Len(uint(readers/fanOutMinimum)) - 1)
	elapsed := (start.UnixNano() - round/fanOutSlots*int64(p.slot)) % round
	return time.Duration(round - elapsed)
}

func (p *coalescer) isPausing() bool { return time.Until(p.until) > 0 }

// pause waits until the present pause or ctx ends. If there is no pause, it returns false at once.
func (p *coalescer) pause(ctx context.Context) bool {
	duration := time.Until(p.until)
	if duration <= 0 {
		return false
	}
	signal.Sleep(ctx, duration)
	return true
}
