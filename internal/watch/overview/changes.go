package overview

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
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
	for _, c := range b.deps.Engine.SpecChanges(time.Now().Add(-recent)) {
		f, w := b.filters[c.ID.Kind], b.informers[c.ID.Kind]
		if f == nil || !f.Match(c.Change.New) || !f.Match(c.Change.Old) || b.isGuest() {
			continue
		}
		change := Change{
			Object: verdict.Object{
				Resource: w.Resource.Ref(), Kind: w.Resource.Kind, Namespace: c.ID.Namespace(), Name: c.ID.Name(),
			},
			At: c.Change.Time,
		}
		by, what := authorOf(&c, b.deps.Cache)
		switch change.What = what; {
		case by == nil:
		case isController(by.Manager):
			continue
		default:
			change.By = by.Manager
			b.result.Changes = append(b.result.Changes, change)
		}
		if all = append(all, change); len(b.result.Changes) == maxShown {
			break
		}
	}
	for n := range b.result.Problems {
		p := &b.result.Problems[n]
		others := p.Chain
		if p.Cause != nil {
			others = append(slices.Clone(others), p.Cause.Object)
		}
		p.LastChange = lastChange(all, p.Object, others, p.Since)
	}
}

// sinceTolerance is the time after the start of a problem in which a change still counts as made before the problem.
// The start is not exact, because the times of conditions have no fractions of a second.
const sinceTolerance = 2 * time.Second

func isBefore(c *Change, since time.Time) bool { return !c.At.After(since.Add(sinceTolerance)) }

// lastChange returns the newest change that an object or one of the other objects had before the object's problem
// began. If there is no such change, it returns the first change of the object after the start of the problem, or nil
// if there is none either. The parameter changes is sorted by time, the newest first.
func lastChange(changes []Change, o verdict.Object, others []verdict.Object, since time.Time) (last *Change) {
	var later *Change
	for n := range changes {
		c := &changes[n]
		isOwn := c.Object == o
		switch {
		case !isOwn && !slices.Contains(others, c.Object):
		case !isBefore(c, since):
			if isOwn {
				later = c
			}
		case last == nil || isOwn && last.Object != o && c.At.Equal(last.At):
			last = c
		}
	}
	return cmp.Or(last, later)
}

// maxLastChanges is the maximum number of findings whose last change is read from the API server.
const maxLastChanges = 20

// addLastChanges reads the last change of the specification for findings whose objects last changed before this program
// watched them. It requests the objects from the API server, because the cache has no managedFields.
func (b *builder) addLastChanges(ctx context.Context) {
	if b.isGuest() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, b.deps.Timeout)
	defer cancel()
	for n := range b.result.Problems[:min(maxLastChanges, len(b.result.Problems))] {
		p := &b.result.Problems[n]
		if p.LastChange == nil && p.Kind != "Pod" {
			p.LastChange = b.deps.LastChange(ctx, p.Object)
		}
		if p.LastChange == nil {
			p.LastChange = b.lastChangeOfCause(ctx, p)
		}
	}
}

// lastChangeOfCause reads the last change of the object that explains a finding. It returns nil if this change is from
// after the start of the problem.
func (b *builder) lastChangeOfCause(ctx context.Context, p *Finding) *Change {
	c := p.Cause
	if c == nil || c.Missing || c.Kind == "Pod" || c.Object == p.Object || !b.seesObject(&c.Object) {
		return nil
	}
	if change := b.deps.LastChange(ctx, c.Object); change != nil && isBefore(change, p.Since) {
		return change
	}
	return nil
}

// isController reports whether a field manager is a component of Kubernetes, and not a person or a deployment tool.
func isController(manager string) bool {
	return strings.HasPrefix(manager, "kube-") || manager == "kubelet" || manager == "cloud-controller-manager" ||
		manager == "cluster-autoscaler" || manager == "kwok"
}
