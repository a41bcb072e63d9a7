package web

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"glasshouse/internal/watch"
)

// countEvery is the minimum time between two counts of the objects for the resource picker.
const countEvery = time.Second

// counts caches the newest message with the number of objects of each watched resource. The message is built once for
// all sessions of an audience.
type counts struct {
	mu     sync.Mutex
	read   time.Time // When the objects were counted last.
	number int       // Increases whenever text changes.
	text   []byte
	other  chan struct{} // Closed when text changes; nil before the first text.
}

// run updates the counts every countEvery until ctx ends.
func (c *counts) run(ctx context.Context, count func(context.Context) map[string]int) {
	for range watch.Ticks(ctx, countEvery) {
		c.latest(ctx, count)
	}
}

// latest returns the number and the text of the current message, and a channel that is closed when the message changes.
// It counts the objects again if the last count is at least countEvery old.
func (c *counts) latest(
	ctx context.Context, count func(context.Context) map[string]int,
) (int, []byte, <-chan struct{}) {
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
		return // Not reached: strings and integers always encode.
	}
	text = append([]byte(`"type":"counts","counts":`), text...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.read) {
		return // Another goroutine has stored a later count.
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
