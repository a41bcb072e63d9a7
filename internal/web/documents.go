package web

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// document is a text that was made at one moment for all who follow it.
type document struct {
	began  time.Time     // Whatever changed before is in it.
	made   chan struct{} // Closed when the rest is there:
	number int           // rises with each other text,
	text   []byte
	err    error
}

// documents hold the newest document, so that who follows needs only its
// number.
type documents struct {
	mu     sync.Mutex
	newest *document
	number int
	text   []byte // Of the number.
}

// latest returns a document that was begun at a time or later. The first who
// needs one makes it.
func (d *documents) latest(ctx context.Context, after time.Time, text func(context.Context) ([]byte, error)) (*document, error) {
	d.mu.Lock()
	latest := d.newest
	mine := latest == nil || latest.began.Before(after)
	if mine {
		latest = &document{began: time.Now(), made: make(chan struct{})}
		d.newest = latest
	}
	d.mu.Unlock()
	if mine {
		d.make(context.WithoutCancel(ctx), latest, text) // Others wait for it.
	}
	select {
	case <-latest.made:
		return latest, latest.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// make makes a document. One whose text is as before keeps its number.
func (d *documents) make(ctx context.Context, one *document, text func(context.Context) ([]byte, error)) {
	one.err = context.Canceled // Where text panics.
	defer close(one.made)
	made, err := text(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && !bytes.Equal(made, d.text) {
		d.number++
		d.text = made
	}
	one.number, one.text, one.err = d.number, d.text, err
}
