package stream

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// For tests of other packages: these functions bring readers into states that otherwise only rare races produce.

// DropUnused drops the shared results that no reader uses now. Otherwise, they would stay in memory for a while.
func (i *SharedInformer) DropUnused() {
	i.listings.store(nil)
	i.Rankings.DropUnused()
}

type panickingSelector struct {
	labels.Selector

	beforePanic func()
}

func (panickingSelector) String() string { return "panicking" }

func (p panickingSelector) Matches(labels.Labels) bool {
	p.beforePanic()
	panic("broken")
}

// FaultyDigest computes a digest that calls beforePanic, and then panics. It returns the value of the panic.
func (i *SharedInformer) FaultyDigest(ctx context.Context, beforePanic func()) (panicked any) {
	defer func() { panicked = recover() }()
	f := &query.Filter{Selector: query.NewSelector(panickingSelector{labels.Everything(), beforePanic})}
	i.digest(ctx, f, 0)
	return nil
}

// HistoryAfter returns how many changes the view Changes would send after the first n changes of the history.
func (r *Reader) HistoryAfter(ctx context.Context, n int) int {
	i := r.client.informer
	retained, _ := i.Retained()
	after := journal.At(i.Now().Offset - uint64(retained-n)) //nolint:gosec // n is at most retained.
	events, _, _, _ := newChanges(&r.client).readHistory(ctx, i.Now(), after, time.Time{})
	return len(events)
}

// LockRanking locks the ranking (the sorted list of rows) of the reader's window. release unlocks it.
func (r *Reader) LockRanking() (release func()) {
	if w, ok := r.view.(*window); ok {
		release, _ = w.ranking.Lock(context.WithoutCancel(r.client.buffer.ctx))
	}
	return release
}

// BlockDigest starts the reader's next digest, whose computation does not end before release is called.
func (r *Reader) BlockDigest() (release func()) {
	i, f := r.client.informer, r.client.filter
	t, _ := i.digests.join(f.ID(), i.Now().Offset+1)
	return func() { i.digests.compute(f.ID(), t, func() *digest { return i.computeDigest(f) }) }
}
