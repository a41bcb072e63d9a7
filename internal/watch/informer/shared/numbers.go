package shared

import (
	"context"
	"errors"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// numbers contains the numbers of objects in each namespace. They are updated when a reader needs them after a change.
type numbers struct {
	lock        chan struct{} // Contains one element while a goroutine uses the numbers.
	isBuilt     bool
	cursor      journal.Cursor
	byNamespace map[string]*Numbers
}

func newNumbers() numbers { return numbers{lock: make(chan struct{}, 1)} }

// Numbers are the numbers of all objects, and of the failed and degraded ones.
type Numbers struct {
	Objects  int
	Problems verdict.Counts
}

// Numbers returns the numbers of objects in some namespaces; no namespaces mean all. Cluster-scoped objects always
// count. Warning events do not count as problems, because their objects do. ok is false if ctx ends first.
func (i *Informer) Numbers(ctx context.Context, namespaces []string) (sum Numbers, ok bool) {
	n := &i.numbers
	select {
	case n.lock <- struct{}{}:
	case <-ctx.Done():
		return Numbers{}, false
	}
	defer func() { <-n.lock }()
	for now := i.Now().Offset; !n.isBuilt || n.cursor.Offset < now; {
		if !n.isBuilt {
			n.build(i.Informer)
			continue
		}
		// This call of Next does not wait, because there are changes after the cursor.
		changes, next, err := i.Next(ctx, n.cursor, maxNumberChanges)
		switch {
		case errors.Is(err, journal.ErrGone):
			n.isBuilt = false
			continue
		case err != nil:
			return Numbers{}, false
		}
		n.cursor = next
		for _, c := range event.Fold(changes) {
			n.apply(c)
		}
	}
	for ns, own := range n.byNamespace {
		if ns == "" || len(namespaces) == 0 || slices.Contains(namespaces, ns) {
			sum.Objects += own.Objects
			sum.Problems.Failed += own.Problems.Failed
			sum.Problems.Degraded += own.Problems.Degraded
		}
	}
	if gvr := i.Scope.Resource; resource.IsEvents(gvr.Group, gvr.Resource) {
		sum.Problems = verdict.Counts{}
	}
	return sum, true
}

const maxNumberChanges = 1000

func (n *numbers) build(i *informer.Informer) {
	entries, cursor := i.Snapshot()
	n.byNamespace, n.cursor, n.isBuilt = make(map[string]*Numbers), cursor, true
	for at := range entries {
		n.add(entries[at].Value, 1)
	}
}

func (n *numbers) apply(c *event.Change) {
	if c.Op == 0 {
		return
	}
	if c.Op != journal.Add {
		n.add(c.Old, -1)
	}
	if c.Op != journal.Delete {
		n.add(c.New, 1)
	}
}

// add adds an object (difference 1), or removes it (difference -1).
func (n *numbers) add(o *compact.Object, difference int) {
	own := n.byNamespace[o.Namespace()]
	if own == nil {
		own = new(Numbers)
		n.byNamespace[o.Namespace()] = own
	}
	own.Objects += difference
	own.Problems.Add(o.Verdict().Severity(), difference)
	if own.Objects == 0 {
		delete(n.byNamespace, o.Namespace())
	}
}
