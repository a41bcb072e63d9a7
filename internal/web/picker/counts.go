package picker

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
)

// countInterval is the minimum time before the objects of the watched resources are counted again.
const countInterval = time.Second

// Counts caches the latest message with object counts. All sessions with the same Viewer.Key share one Counts.
type Counts struct {
	mu        sync.Mutex
	countedAt time.Time
	version   int // Incremented when text changes; a session compares it with the version that it last sent.
	text      []byte
	changed   chan struct{} // Closed when text changes, then replaced; nil before the first text.
}

func (c *Counts) run(ctx context.Context, count func(context.Context) map[string]int) {
	for range signal.Ticks(ctx, countInterval) {
		c.Latest(ctx, count)
	}
}

// Latest returns the latest message, its version, and a channel that is closed on the next change.
func (c *Counts) Latest(
	ctx context.Context, count func(context.Context) map[string]int,
) (int, []byte, <-chan struct{}) {
	c.mu.Lock()
	countedAt := c.countedAt
	c.mu.Unlock()
	if now := time.Now(); now.Sub(countedAt) >= countInterval {
		c.set(now, count(ctx))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version, c.text, c.changed
}

func (c *Counts) set(now time.Time, counted map[string]int) {
	text, err := json.Marshal(counted)
	if err != nil {
		return
	}
	text = append([]byte(`"type":"counts","counts":`), text...)
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
