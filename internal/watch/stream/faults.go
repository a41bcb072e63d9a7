package stream

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/query"
)

// This file is for the tests of packages that use readers. It brings readers into states that only rare races
// produce.

// DropUnused drops the results that readers share, if no reader uses them now. Otherwise, they would be dropped only
// after a while.
func (i *SharedInformer) DropUnused() {
	i.listings.store(nil)
	i.Rankings.DropUnused()
}

type panickingSelector struct {
	labels.Selector

	first func()
}

func (panickingSelector) String() string { return "panicking" }

func (p panickingSelector) Matches(labels.Labels) bool {
	p.first()
	panic("broken")
}

// FaultyDigest computes a digest (a hash of all rows). The computation calls first, and then panics. FaultyDigest
// returns the value of the panic.
func (i *SharedInformer) FaultyDigest(ctx context.Context, first func()) (panicked any) {
	defer func() { panicked = recover() }()
	f := &query.Filter{Selector: query.NewSelector(panickingSelector{labels.Everything(), first})}
	i.digest(ctx, f, 0)
	return nil
}

// HistoryAfter returns the number of changes that the reader would send if it resumed after the first n changes of the
// history.
func (s *Reader) HistoryAfter(n int) int {
	retained, _ := s.informer.Retained()
	now := s.informer.Now()
	after := journal.At(now.Offset - uint64(retained-n)) //nolint:gosec // n is at most retained.
	events, _, _, _ := s.readHistory(now, after, time.Time{})
	return len(events)
}

// LockRanking locks the ranking (the sorted list of rows) of the reader's window. release unlocks it.
func (s *Reader) LockRanking() (release func()) {
	release, _ = s.window.ranking.Lock(context.WithoutCancel(s.buffer.ctx))
	return release
}

// BlockDigest starts the computation of the reader's next digest (a hash of all rows), which ends when release is
// called.
func (s *Reader) BlockDigest() (release func()) {
	i, f := s.informer, s.Filter
	t, _ := i.digests.join(f.ID(), i.Now().Offset+1)
	return func() { i.digests.compute(f.ID(), t, func() *digest { return i.computeDigest(f) }) }
}

// DigestOf returns the number of rows and their digest (hash), as in a digest message. Each row is a key and a
// resourceVersion.
func DigestOf(rows [][2]string) (count int, text string) {
	var d digest
	for _, row := range rows {
		d.add(row[0], row[1])
	}
	return d.count, d.text()
}
