package web

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// sharedDoc is a message text that is built once for all sessions of an audience.
type sharedDoc struct {
	startedAt time.Time     // When its build began. The text includes all earlier changes.
	done      chan struct{} // Closed when the fields below are set.
	version   int           // Increases whenever the text changes.
	text      []byte
	err       error
}

// sharedDocs caches the newest document. Documents with the same number have the same text. A session therefore only
// needs to remember the number that it sent last.
type sharedDocs struct {
	mu      sync.Mutex
	newest  *sharedDoc
	version int
	text    []byte // The text of the documents with that number.
}

// latest returns a document whose build began at the time after, or later. The first caller that needs a new document
// builds it.
func (d *sharedDocs) latest(
	ctx context.Context, after time.Time, encode func(context.Context) ([]byte, error),
) (*sharedDoc, error) {
	d.mu.Lock()
	latest := d.newest
	leader := latest == nil || latest.startedAt.Before(after)
	if leader {
		latest = &sharedDoc{startedAt: time.Now(), done: make(chan struct{})}
		d.newest = latest
	}
	d.mu.Unlock()
	if leader {
		d.build(context.WithoutCancel(ctx), latest, encode) // Not canceled with ctx: other callers wait for it.
	}
	select {
	case <-latest.done:
		return latest, latest.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// build builds a document. If the text has not changed, the document keeps the previous number.
func (d *sharedDocs) build(ctx context.Context, doc *sharedDoc, encode func(context.Context) ([]byte, error)) {
	doc.err = context.Canceled // Returned to the waiting callers if text panics.
	defer close(doc.done)
	encoded, err := encode(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && !bytes.Equal(encoded, d.text) {
		d.version++
		d.text = encoded
	}
	doc.version, doc.text, doc.err = d.version, d.text, err
}
