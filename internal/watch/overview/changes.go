package overview

import (
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
		setLastChange(&b.result.Problems[n], all)
	}
}

// isController reports whether a field manager is a component of Kubernetes, and not a person or a deployment tool.
func isController(manager string) bool {
	return strings.HasPrefix(manager, "kube-") || manager == "kubelet" || manager == "cloud-controller-manager" ||
		manager == "cluster-autoscaler" || manager == "kwok"
}
