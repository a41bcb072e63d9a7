package shared

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// For tests of other packages: these functions bring readers into states that otherwise only rare races produce.

// DropUnused drops the shared results that no reader uses now. Otherwise, they would stay in memory for a while.
func (i *Informer) DropUnused() {
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
func (i *Informer) FaultyDigest(ctx context.Context, beforePanic func()) (panicked any) {
	defer func() { panicked = recover() }()
	f := &query.Filter{Selector: query.NewSelector(panickingSelector{labels.Everything(), beforePanic})}
	i.Digest(ctx, f, f.ID(), 0)
	return nil
}

// BlockDigest starts the next digest of a filter, whose computation does not end before release is called.
func (i *Informer) BlockDigest(f *query.Filter) (release func()) {
	t, _ := i.digests.join(f.ID(), i.Now().Offset+1)
	return func() { i.digests.compute(f.ID(), t, func() *Digest { return i.computeDigest(f) }) }
}
