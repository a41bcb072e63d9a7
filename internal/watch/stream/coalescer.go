package stream

import (
	"context"
	"math/bits"
	"time"

	"glasshouse/internal/watch/signal"
)

// coalescer decides how long a reader pauses between two messages, so that it sends larger batches under load.
//
// If a message was sent late, because the program was busy, the next pause is latencyFactor times as long as the
// delay. The next message then contains all changes of that time. After a message that was on time, there is no such
// pause. With many readers, each reader sends only at intervals, see fanOutMinimum.
type coalescer struct {
	every  time.Duration
	fanOut func() int
	slot   int
	until  time.Time
	oldest time.Time
}

const (
	// latencyFactor is the ratio of a pause to the delay of the message before it.
	latencyFactor = 3
	// maxDelay is the maximum length of a pause that follows a late message.
	maxDelay = 50 * time.Millisecond
	// With fanOutMinimum or more readers, each one sends only once per interval. The interval starts at fanOutRound and
	// doubles whenever the number of readers doubles: for 1,000 readers it is 400 ms. In each interval, the readers
	// send in fanOutSlots groups, one group after the other.
	fanOutMinimum, fanOutRound, fanOutSlots = 128, 100 * time.Millisecond, 8
)

func (p *coalescer) recordStart(oldest time.Time) { p.oldest = oldest }

// recordSent records that the message was sent, and computes the pause after it. The delay of the message is measured
// from its oldest change, or from the end of the last pause if that was later.
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

// slotDelay returns the time until the next time slot in which the reader sends. The time is counted from the
// parameter from. It is zero if the number of readers, size, is less than fanOutMinimum. Readers with the same slot
// send the same changes, so they share the encoded text.
func (p *coalescer) slotDelay(from time.Time, size int) time.Duration {
	if size < fanOutMinimum {
		return 0
	}
	round := int64(fanOutRound) << (bits.Len(uint(size/fanOutMinimum)) - 1) //nolint:gosec // The result is not negative.
	elapsed := (from.UnixNano() - round/fanOutSlots*int64(p.slot)) % round
	return time.Duration(round - elapsed)
}

func (p *coalescer) isPausing() bool { return time.Until(p.until) > 0 }

// pause waits until the present pause ends. It reports whether there was a pause.
func (p *coalescer) pause(ctx context.Context) bool {
	duration := time.Until(p.until)
	if duration <= 0 {
		return false
	}
	signal.Sleep(ctx, duration)
	return true
}
