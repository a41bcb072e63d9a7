package picker

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// SharedDoc is the text of a message, built once for all sessions of a picker feed (the list in the resource picker).
type SharedDoc struct {
	StartedAt time.Time     // When the build of the text began. The text includes all earlier changes.
	done      chan struct{} // Closed when version, text and err are set.
	Version   int           // Increases whenever the text changes.
	Text      []byte
	err       error
}

// SharedDocs caches the newest document. Documents with the same version have the same text. A session therefore
// remembers only the version that it has sent last.
type SharedDocs struct {
	mu      sync.Mutex
	newest  *SharedDoc
	version int
	text    []byte // The text of the current version.
}

// Latest returns a document whose build began at the time after, or later. If there is none, the first caller builds
// a new document, and concurrent callers wait for it.
func (d *SharedDocs) Latest(
	ctx context.Context, after time.Time, encode func(context.Context) ([]byte, error),
) (*SharedDoc, error) {
	d.mu.Lock()
	latest := d.newest
	leader := latest == nil || latest.StartedAt.Before(after)
	if leader {
		latest = &SharedDoc{StartedAt: time.Now(), done: make(chan struct{})}
		d.newest = latest
	}
	d.mu.Unlock()
	if leader {
		// Do not cancel the build with ctx, because other callers wait for the document.
		d.build(context.WithoutCancel(ctx), latest, encode)
	}
	select {
	case <-latest.done:
		return latest, latest.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// build encodes the text of doc. If the text has not changed, doc gets the previous version number.
func (d *SharedDocs) build(ctx context.Context, doc *SharedDoc, encode func(context.Context) ([]byte, error)) {
	// If encode panics, the waiting callers get this error.
	doc.err = context.Canceled
	defer close(doc.done)
	encoded, err := encode(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && !bytes.Equal(encoded, d.text) {
		d.version++
		d.text = encoded
	}
	doc.Version, doc.Text, doc.err = d.version, d.text, err
}
