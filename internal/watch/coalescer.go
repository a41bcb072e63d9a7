package watch

import (
	"context"
	"math/bits"
	"time"

	"glasshouse/internal/watch/signal"
)

// coalescer decides how long a reader waits between two messages, so that batches are larger under load. If a message
// was late because the program is busy, the pause is several times as long as the delay. The next message then has all
// changes of that time. After a message that was on time there is hardly a pause, unless the number of readers makes
// the reader send in rounds.
type coalescer struct {
	every  time.Duration // The minimum pause after each message.
	fanOut func() int    // The current number of readers, see Access.WithFanOut; nil for a single reader.
	slot   int           // The time slot in which this reader sends, if there are many readers.
	until  time.Time     // The end of the pause.
	oldest time.Time     // The time of the oldest change in the message that is being sent.
}

const (
	// latencyFactor is the ratio of the pause to the delay of the last message. maxDelay is the maximum pause for that
	// reason.
	latencyFactor = 3
	maxDelay      = 50 * time.Millisecond
	// fanOutMinimum is the number of readers from which each reader sends only once per fanOutRound. The interval doubles
	// each time that the number of readers doubles: for 1,000 readers it is 400 ms. The readers are divided into
	// fanOutSlots groups, which send one after the other.
	fanOutMinimum, fanOutRound, fanOutSlots = 128, 100 * time.Millisecond, 8
)

// recordStart records that a message of changes is about to be sent. oldest is the time of the oldest change in it.
func (p *coalescer) recordStart(oldest time.Time) { p.oldest = oldest }

// recordSent records that the message was sent. Time in a deliberate pause does not count as delay.
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

// slotDelay returns the time from the moment from until the next slot of the reader, if size readers share the
// processor. It returns zero for fewer than fanOutMinimum readers. Readers that send together have the same changes to
// send, and share the encoded text.
func (p *coalescer) slotDelay(from time.Time, size int) time.Duration {
	if size < fanOutMinimum {
		return 0
	}
	round := int64(fanOutRound) << (bits.Len(uint(size/fanOutMinimum)) - 1) //nolint:gosec // The result is not negative.
	elapsed := (from.UnixNano() - round/fanOutSlots*int64(p.slot)) % round
	return time.Duration(round - elapsed)
}

// isPausing reports whether a pause is in progress, so that pause would wait.
func (p *coalescer) isPausing() bool { return time.Until(p.until) > 0 }

// pause waits for the end of the pause, and reports whether there was one.
func (p *coalescer) pause(ctx context.Context) bool {
	duration := time.Until(p.until)
	if duration <= 0 {
		return false
	}
	signal.Sleep(ctx, duration)
	return true
}
