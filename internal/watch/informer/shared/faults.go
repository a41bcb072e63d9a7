package shared

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// The functions of this file are for tests of other packages. They produce states that otherwise occur only in rare
// races.

// DropUnused drops the shared results that no reader uses now. Otherwise, some would stay in memory for a while.
func (i *Informer) DropUnused() {
	i.listings.store(nil)
	i.Rankings.DropUnused()
}

type faultySelector struct {
	labels.Selector

	fault func()
}

func (faultySelector) String() string { return "faulty" }

func (s faultySelector) Matches(labels.Labels) bool {
	s.fault()
	return true
}

// FaultyDigest computes a digest of all rows at the offset or later, and returns the number of rows. It calls fault for
// each row, unless another caller has already computed this digest. If fault panics, panicked is the value of the
// panic.
func (i *Informer) FaultyDigest(ctx context.Context, offset uint64, fault func()) (count int, panicked any) {
	defer func() { panicked = recover() }()
	f := &query.Filter{Selector: query.NewSelector(faultySelector{labels.Everything(), fault})}
	return i.Digest(ctx, f, f.ID(), offset).Count, nil
}

// BlockDigest starts to compute the next digest for the filter f. The computation waits until release is called.
func (i *Informer) BlockDigest(ctx context.Context, f *query.Filter) (release func()) {
	started, released, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	isFresh := func(*Digest, time.Time) bool { return false }
	go func() {
		defer close(ended)
		i.digests.Get(ctx, f.ID(), isFresh, func(context.Context) *Digest {
			close(started)
			<-released
			return i.computeDigest(f)
		})
	}()
	<-started
	return func() {
		close(released)
		<-ended
	}
}
