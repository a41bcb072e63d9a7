package watch

import (
	"context"
	"math/bits"
	"time"
)

// pace decides how long a reader waits between two messages, so that batches are larger under load. If a message was
// late because the program is busy, the pause is several times as long as the delay. The next message then has all
// changes of that time. After a message that was on time there is hardly a pause, unless every is set.
type pace struct {
	every  time.Duration // The minimum pause after each message.
	crowd  func() int    // The current number of readers, see Access.Crowded; nil for a single reader.
	cohort int           // The time slot in which this reader sends, if there are many readers.
	until  time.Time     // The end of the pause.
	oldest time.Time     // The time of the oldest change in the message that is being sent.
}

const (
	// patience is the ratio of the pause to the delay of the last message. gather is the maximum pause for that reason.
	patience = 3
	gather   = 50 * time.Millisecond
	// crowdOf is the number of readers from which each reader sends only once per crowdRound. The interval doubles each
	// time that the number of readers doubles: for 1,000 readers it is 400 ms. The readers are divided into cohorts,
	// which send one after the other.
	crowdOf, crowdRound, cohorts = 128, 100 * time.Millisecond, 8
)

// tell records that a message of changes is about to be sent.
func (p *pace) tell(oldest time.Time) { p.oldest = oldest }

// told records that the message was sent. Time in a deliberate pause does not count as delay.
func (p *pace) told() {
	if p.oldest.IsZero() {
		return
	}
	now, due := time.Now(), p.oldest
	if p.until.After(due) {
		due = p.until
	}
	p.until = now.Add(max(p.every, min(patience*now.Sub(due), gather)))
	if p.crowd != nil {
		p.until = p.until.Add(p.turn(p.until, p.crowd()))
	}
	p.oldest = time.Time{}
}

// turn returns the time from the moment from until the next slot of the reader's cohort, if size readers share the
// processor. It returns zero for fewer than crowdOf readers. Readers that send together have the same changes to send,
// and share the encoded text.
func (p *pace) turn(from time.Time, size int) time.Duration {
	if size < crowdOf {
		return 0
	}
	round := int64(crowdRound) << (bits.Len(uint(size/crowdOf)) - 1) //nolint:gosec // Not negative.
	into := (from.UnixNano() - round/cohorts*int64(p.cohort)) % round
	return time.Duration(round - into)
}

// collects reports whether a pause is in progress, so that rest would wait.
func (p *pace) collects() bool { return time.Until(p.until) > 0 }

// rest waits for the end of the pause, and reports whether there was one.
func (p *pace) rest(ctx context.Context) bool {
	long := time.Until(p.until)
	if long <= 0 {
		return false
	}
	sleep(ctx, long)
	return true
}
