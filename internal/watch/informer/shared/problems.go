package shared

import (
	"context"
	"errors"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// problems contains the numbers of objects with problems. The numbers are updated when a reader needs them after a
// change.
type problems struct {
	lock    chan struct{} // Contains one element while a goroutine uses the counts.
	isBuilt bool
	cursor  journal.Cursor
	counts  verdict.Counts
}

func newProblems() problems { return problems{lock: make(chan struct{}, 1)} }

// Problems returns the numbers of failed and degraded objects. If ctx ends first, it returns zeros. Warning events do
// not count, because the objects that they are about do.
func (i *Informer) Problems(ctx context.Context) verdict.Counts {
	p, gvr := &i.problems, i.Scope.Resource
	if resource.IsEvents(gvr.Group, gvr.Resource) {
		return verdict.Counts{}
	}
	select {
	case p.lock <- struct{}{}:
	case <-ctx.Done():
		return verdict.Counts{}
	}
	defer func() { <-p.lock }()
	for now := i.Now().Offset; !p.isBuilt || p.cursor.Offset < now; {
		if !p.isBuilt {
			p.build(i.Informer)
			continue
		}
		// This call of Next does not wait, because there are changes after the cursor.
		changes, next, err := i.Next(ctx, p.cursor, maxProblemChanges)
		switch {
		case errors.Is(err, journal.ErrGone):
			p.isBuilt = false
			continue
		case err != nil:
			return verdict.Counts{}
		}
		p.cursor = next
		for _, c := range event.Fold(changes) {
			p.apply(c)
		}
	}
	return p.counts
}

const maxProblemChanges = 1000

func (p *problems) build(i *informer.Informer) {
	entries, cursor := i.Snapshot()
	p.counts, p.cursor, p.isBuilt = verdict.Counts{}, cursor, true
	for n := range entries {
		p.counts.Add(severityOf(entries[n].Value), 1)
	}
}

func (p *problems) apply(c *event.Change) {
	if c.Op == 0 {
		return
	}
	if c.Op != journal.Add {
		p.counts.Add(severityOf(c.Old), -1)
	}
	if c.Op != journal.Delete {
		p.counts.Add(severityOf(c.New), 1)
	}
}

func severityOf(o *compact.Object) verdict.Severity { return o.Verdict().Severity() }
