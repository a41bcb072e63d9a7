package picker

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// SharedDoc is the text of a message. It is built once for all sessions of a Feed.
type SharedDoc struct {
	StartedAt time.Time     // When the build of the text began. The text includes all earlier changes.
	done      chan struct{} // Closed when Version, Text and err are set.
	Version   int           // Increases whenever the text changes.
	Text      []byte
	err       error
}

// SharedDocs caches the newest SharedDoc. Documents with the same version have the same text.
type SharedDocs struct {
	mu      sync.Mutex
	newest  *SharedDoc
	version int
	text    []byte // The text of the current version.
}

// Latest returns a document whose build began at the given time or later. Concurrent callers share one build.
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

func (d *SharedDocs) build(ctx context.Context, doc *SharedDoc, encode func(context.Context) ([]byte, error)) {
	// The waiting callers get this error if the function encode panics.
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
