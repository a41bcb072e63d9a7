package stream

import (
	"context"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
)

// coalescer decides how long a reader pauses between two messages. After a delayed message, the next pause is longer.
type coalescer struct {
	every  time.Duration
	until  time.Time
	oldest time.Time
}

const (
	// After a late message, the reader pauses for latencyFactor times the delay of this message.
	latencyFactor = 3
	// maxDelay is the maximum length of a pause that follows a late message.
	maxDelay = 50 * time.Millisecond
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
	c.oldest = time.Time{}
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
