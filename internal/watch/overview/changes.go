package overview

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// addWarnings adds the recent warning events to the overview, grouped by reason, the newest first.
func (b *builder) addWarnings() {
	events := b.recentWarnings()
	slices.SortStableFunc(events, func(x, y *corev1.Event) int {
		return neighbor.EventTime(y).Compare(neighbor.EventTime(x))
	})
	byReason := make(map[string]int)
	for _, e := range events {
		n, ok := byReason[e.Reason]
		if !ok {
			n = len(b.result.Warnings)
			byReason[e.Reason] = n
			b.result.Warnings = append(b.result.Warnings, Warning{
				Reason: e.Reason, Last: neighbor.EventTime(e), Message: e.Message,
			})
		}
		w := &b.result.Warnings[n]
		w.Count += int(max(1, e.Count))
		if o := b.regarded(e); len(w.Objects) < MaxMembers && !slices.Contains(w.Objects, o) {
			w.Objects = append(w.Objects, o)
		}
	}
	b.result.Warnings = b.result.Warnings[:min(maxShown, len(b.result.Warnings))]
}

func (b *builder) recentWarnings() (events []*corev1.Event) {
	since := time.Now().Add(-recent)
	b.each(graph.Kind{Kind: "Event"}, func(o *compact.Object) {
		if o.Verdict().Severity() <= verdict.OK {
			return // The event is not a warning.
		}
		e := neighbor.Decode[corev1.Event](o)
		if e.Type == corev1.EventTypeWarning && !neighbor.EventTime(&e).Before(since) {
			events = append(events, &e)
		}
	})
	return events
}

func (b *builder) regarded(e *corev1.Event) verdict.Object {
	o := verdict.Object{
		Kind: e.InvolvedObject.Kind, Namespace: e.InvolvedObject.Namespace, Name: e.InvolvedObject.Name,
	}
	group, _, hasGroup := strings.Cut(e.InvolvedObject.APIVersion, "/")
	if !hasGroup {
		group = ""
	}
	if w := b.informers[graph.Kind{Group: group, Kind: o.Kind}]; w != nil {
		o.Resource = w.Resource.Ref()
	}
	return o
}

func (b *builder) addChanges() {
	var all []Change // The changes for lastChange, including those by unknown authors.
	limited := make(map[graph.Kind]int)
	for _, c := range b.deps.Engine.SpecChanges(time.Now().Add(-recent)) {
		if b.isGuest() || !includesChange(b.filters[c.ID.Kind], &c) {
			continue
		}
		change, isByPerson := changeOf(b, &c)
		if change == nil {
			continue
		}
		all = append(all, *change)
		if c.IsLimited() {
			limited[c.ID.Kind]++
		}
		isShown := !c.IsLimited() || limited[c.ID.Kind] <= inherit.MaxLimited
		if isByPerson && isShown && len(b.result.Changes) < maxShown {
			b.result.Changes = append(b.result.Changes, *change)
		}
	}
	for n := range b.result.Problems {
		setLastChange(&b.result.Problems[n], all)
	}
}

func includesChange(f *query.Filter, c *inherit.SpecChange) bool {
	return f != nil && (c.Change.New == nil || f.Match(c.Change.New)) && (c.Change.Old == nil || f.Match(c.Change.Old))
}

// changeOf describes a change. It returns nil for a change by a controller. isByPerson is false if the author is
// unknown. A deletion never has an author, and counts as made by a person.
func changeOf(b *builder, c *inherit.SpecChange) (change *Change, isByPerson bool) {
	r := b.informers[c.ID.Kind].Resource
	change = &Change{
		Object: verdict.Object{Resource: r.Ref(), Kind: r.Kind, Namespace: c.ID.Namespace(), Name: c.ID.Name()},
		At:     c.Change.Time,
	}
	by := c.By
	switch c.Change.Op {
	case journal.Add:
		change.IsCreation = true
	case journal.Delete:
		change.IsDeletion = true
		return change, true
	default:
		if change.What = partsText(c.Parts); by == nil {
			by, change.What = authorOf(c, b.deps.Cache)
		}
	}
	switch {
	case by == nil:
		return change, false
	case fieldmanager.IsController(by.Manager):
		return nil, false
	}
	change.By = by.Manager
	return change, true
}
