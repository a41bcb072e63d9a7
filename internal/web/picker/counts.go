package picker

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// countInterval is the minimum time between two counts of the objects of all watched resources.
const countInterval = time.Second

// CountFunc returns the numbers of objects and of problems of each resource. The keys are refs such as "core/v1/pods".
type CountFunc func(context.Context) (counts map[string]int, problems map[string]verdict.Counts)

// Counts caches the latest message with object counts. All sessions with the same Viewer.Key share one Counts.
type Counts struct {
	mu        sync.Mutex
	countedAt time.Time
	version   int // Incremented when text changes; a session compares it with the version that it last sent.
	text      []byte
	changed   chan struct{} // Closed when text changes, then replaced; nil before the first text.
}

func (c *Counts) run(ctx context.Context, count CountFunc) {
	for range signal.Ticks(ctx, countInterval) {
		c.Latest(ctx, count)
	}
}

// Latest calls count if the counts are old. It returns the version, the text, and a channel that closes on a change.
func (c *Counts) Latest(ctx context.Context, count CountFunc) (int, []byte, <-chan struct{}) {
	c.mu.Lock()
	countedAt := c.countedAt
	c.mu.Unlock()
	if now := time.Now(); now.Sub(countedAt) >= countInterval {
		if counts, problems := count(ctx); ctx.Err() == nil {
			c.set(now, counts, problems)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version, c.text, c.changed
}

func (c *Counts) set(now time.Time, counts map[string]int, problems map[string]verdict.Counts) {
	message, err := json.Marshal(struct {
		Type     string                    `json:"type"`
		Counts   map[string]int            `json:"counts"`
		Problems map[string]verdict.Counts `json:"problems"`
	}{"counts", counts, problems})
	if err != nil {
		return
	}
	text := message[1 : len(message)-1] // Without the braces, so that each session can add members such as its id.
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.countedAt) {
		return
	}
	c.countedAt = now
	if string(text) == string(c.text) {
		return
	}
	c.version++
	c.text = text
	if c.changed != nil {
		close(c.changed)
	}
	c.changed = make(chan struct{})
}
