package stream

import (
	"context"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

// These functions are for tests of other packages. They bring readers into states that otherwise occur only in rare
// races.

// HistoryAfter returns how many changes the view Changes would send if the history had lost its n oldest changes.
func (r *Reader) HistoryAfter(ctx context.Context, n int) int {
	i := r.client.informer
	retained, _ := i.Retained()
	after := journal.At(i.Now().Offset - uint64(retained-n)) //nolint:gosec // n is at most retained.
	events, _, _, _ := newChanges(&r.client).readHistory(ctx, i.Now(), after, time.Time{})
	return len(events)
}

// LockRanking locks the ranking (the sorted list of rows) of the reader's window. release unlocks it.
func (r *Reader) LockRanking(ctx context.Context) (release func()) {
	if w, ok := r.view.(*window); ok {
		release, _ = w.ranking.Lock(ctx)
	}
	return release
}

// BlockDigest starts the reader's next digest, whose computation does not end before release is called.
func (r *Reader) BlockDigest(ctx context.Context) (release func()) {
	return r.client.informer.BlockDigest(ctx, r.client.filter)
}
