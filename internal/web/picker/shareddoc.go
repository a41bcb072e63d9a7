package picker

import (
	"bytes"
	"context"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/flight"
)

// SharedDoc is the text of a message. It is built once for all sessions of a Feed.
type SharedDoc struct {
	StartedAt time.Time // When the build of the text began. The text includes all earlier changes.
	Version   int       // Increases whenever the text changes.
	Text      []byte
	err       error
}

// SharedDocs caches the newest SharedDoc. Documents with the same version have the same text.
type SharedDocs struct {
	newest *flight.Cache[struct{}, SharedDoc]
}

// NewSharedDocs returns SharedDocs without a document.
func NewSharedDocs() SharedDocs { return SharedDocs{flight.New[struct{}, SharedDoc](1, 0)} }

// Latest returns a document whose build began at the given time or later. Concurrent callers share one build.
func (d SharedDocs) Latest(
	ctx context.Context, after time.Time, encode func(context.Context) ([]byte, error),
) (SharedDoc, error) {
	isFresh := func(doc SharedDoc, _ time.Time) bool { return !doc.StartedAt.Before(after) }
	build := func(ctx context.Context) SharedDoc { return d.build(ctx, encode) }
	for {
		doc, ok := d.newest.Get(ctx, struct{}{}, isFresh, build)
		if !ok {
			return SharedDoc{}, ctx.Err()
		}
		// If another caller started this build before the given time, try again.
		if isFresh(doc, doc.StartedAt) {
			return doc, doc.err
		}
	}
}

func (d SharedDocs) build(ctx context.Context, encode func(context.Context) ([]byte, error)) SharedDoc {
	doc := d.newest.Last(struct{}{})
	doc.StartedAt = time.Now()
	var text []byte
	if text, doc.err = encode(ctx); doc.err == nil && !bytes.Equal(text, doc.Text) {
		doc.Version++
		doc.Text = text
	}
	return doc
}
