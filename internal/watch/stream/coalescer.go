package stream

import (
	"context"
	"math/bits"
	"time"

	"glasshouse/internal/watch/signal"
)

// coalescer decides how long a reader pauses between two messages. Under load, the pauses are longer, so that the
// reader sends fewer and larger batches.
//
// A message is late if the program was too busy to send it at once. The next pause is then latencyFactor times as
// long as the delay of the message, and the next message contains all changes of the pause. After a message that was
// on time, there is no such pause. With many readers, each reader sends only once per interval, see fanOutMinimum.
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

// recordSent records that the message was sent, and computes the next pause. The delay of the message is the time
// since its oldest change, or since the end of the last pause if that was later.
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

// slotDelay returns the time from start to the reader's next time slot. It returns zero if there are fewer readers
// than fanOutMinimum. Readers with the same slot send the same changes, so they share the encoded text.
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

// pause waits until the present pause ends. It reports whether there was a pause.
func (p *coalescer) pause(ctx context.Context) bool {
	duration := time.Until(p.until)
	if duration <= 0 {
		return false
	}
	signal.Sleep(ctx, duration)
	return true
}
