package web

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// document is a message text that is built once for all sessions of an audience.
type document struct {
	began  time.Time     // When its build began. The text includes all earlier changes.
	made   chan struct{} // Closed when the fields below are set.
	number int           // Increases whenever the text changes.
	text   []byte
	err    error
}

// documents caches the newest document. Documents with the same number have the same text. A session therefore only
// needs to remember the number that it sent last.
type documents struct {
	mu     sync.Mutex
	newest *document
	number int
	text   []byte // The text of the documents with that number.
}

// latest returns a document whose build began at the time after, or later. The first caller that needs a new document
// builds it.
func (d *documents) latest(
	ctx context.Context, after time.Time, text func(context.Context) ([]byte, error),
) (*document, error) {
	d.mu.Lock()
	latest := d.newest
	mine := latest == nil || latest.began.Before(after)
	if mine {
		latest = &document{began: time.Now(), made: make(chan struct{})}
		d.newest = latest
	}
	d.mu.Unlock()
	if mine {
		d.make(context.WithoutCancel(ctx), latest, text) // Not canceled with ctx: other callers wait for it.
	}
	select {
	case <-latest.made:
		return latest, latest.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// make builds a document. If the text has not changed, the document keeps the previous number.
func (d *documents) make(ctx context.Context, one *document, text func(context.Context) ([]byte, error)) {
	one.err = context.Canceled // Returned to the waiting callers if text panics.
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
