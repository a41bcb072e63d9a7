package watch

import (
	"context"
	"math/bits"
	"time"
)

// pace lets batches grow under load. Who was told late, because there is so much
// else to do, waits a few times as long before it is told more, and is told that
// in one. Who was told at once does not wait to speak of, unless it wants to.
type pace struct {
	every  time.Duration // Collect at least so long behind each message.
	crowd  func() int    // See Access.Crowded; nil for alone.
	cohort int           // Of the crowd.
	until  time.Time     // Collect until then.
	oldest time.Time     // Of the changes in the message that is on its way.
}

const (
	// patience is how many times as long as a message was late it is until the
	// next one, and gather is how long at most.
	patience = 3
	gather   = 50 * time.Millisecond
	// A crowd of crowdOf readers has its turns each crowdRound, one of twice as many half as
	// often: 1,000 readers each 400 ms. One cohort of it has its turn after the other.
	crowdOf, crowdRound, cohorts = 128, 100 * time.Millisecond, 8
)

// tell takes note of a message of changes that is about to be sent.
func (p *pace) tell(oldest time.Time) { p.oldest = oldest }

// told says that it has been. What was collected on purpose was not late.
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

// turn is how long it is from a time to the cohort's next turn in a crowd of that size:
// zero in none. Who is told together has the same before them, and shares what is made of it.
func (p *pace) turn(from time.Time, size int) time.Duration {
	if size < crowdOf {
		return 0
	}
	round := int64(crowdRound) << (bits.Len(uint(size/crowdOf)) - 1) //nolint:gosec // Not negative.
	into := (from.UnixNano() - round/cohorts*int64(p.cohort)) % round
	return time.Duration(round - into)
}

// collects reports whether rest would.
func (p *pace) collects() bool { return time.Until(p.until) > 0 }

// rest collects, and reports whether it had to.
func (p *pace) rest(ctx context.Context) bool {
	long := time.Until(p.until)
	if long <= 0 {
		return false
	}
	sleep(ctx, long)
	return true
}
