package web

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"glasshouse/internal/watch"
)

// countEvery is how often who follows the picker may be told other counts.
const countEvery = time.Second

// counts hold the newest message of how many objects there are of each kind that
// is watched. It is made once for all who follow the same picker.
type counts struct {
	mu     sync.Mutex
	read   time.Time // When they were counted.
	number int       // Rises with each other text,
	text   []byte
	other  chan struct{} // and this is closed.
}

// run counts now and then until ctx ends.
func (c *counts) run(ctx context.Context, count func(context.Context) map[string]int) {
	for range watch.Ticks(ctx, countEvery) {
		c.latest(ctx, count)
	}
}

// latest returns the message, its number, and what is closed when there is
// another. What was counted a while ago is counted again.
func (c *counts) latest(ctx context.Context, count func(context.Context) map[string]int) (int, []byte, <-chan struct{}) {
	c.mu.Lock()
	read := c.read
	c.mu.Unlock()
	if now := time.Now(); now.Sub(read) >= countEvery {
		c.set(now, count(ctx))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.number, c.text, c.other
}

func (c *counts) set(now time.Time, counted map[string]int) {
	text, err := json.Marshal(counted)
	if err != nil {
		return // Names and whole numbers always encode.
	}
	text = append([]byte(`"type":"counts","counts":`), text...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.read) {
		return // Somebody else has counted later.
	}
	c.read = now
	if string(text) == string(c.text) {
		return
	}
	c.number++
	c.text = text
	if c.other != nil {
		close(c.other)
	}
	c.other = make(chan struct{})
}
