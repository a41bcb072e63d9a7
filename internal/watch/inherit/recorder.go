package inherit

import (
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/results"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// recorder is used for the evaluation of one object. It records which objects are named in messages about this object,
// which kinds the rules could not read yet, of which lists they read only a part, and when the object must be evaluated
// again.
type recorder struct {
	*Engine

	id        graph.ID // The object that is evaluated.
	named     []graph.ID
	lists     []graph.ID // The kinds, in a namespace or in the cluster, of which all objects were read.
	cuts      []results.Cut
	revisitAt time.Time // When to evaluate the object again; zero for never.
}

// RevisitAt requests another evaluation (see neighbor.Cluster). Only the earliest time counts.
func (r *recorder) RevisitAt(at time.Time) {
	if r.revisitAt.IsZero() || at.Before(r.revisitAt) {
		r.revisitAt = at
	}
}

// Named returns the objects that a mention can mean (see neighbor.Cluster), and adds them to r.named.
func (r *recorder) Named(by graph.ID, m *neighbor.Mention) []neighbor.Neighbor {
	found := r.Engine.Named(by, m)
	for n := range found {
		id := found[n].ID
		if slices.Contains(r.named, id) {
			continue
		}
		r.named = append(r.named, id)
		r.mentions.Add(r.id, id)
		found[n] = r.Find(id) // Read again: a change before the call of Add causes no evaluation of r.id.
	}
	return found
}

// Find returns what is known about an object (see neighbor.Cluster).
func (r *recorder) Find(id graph.ID) neighbor.Neighbor {
	n := r.Engine.Find(id)
	if n.Presence == neighbor.Unknown {
		r.unread.Add(id.Kind, r.id.Kind)
		n = r.Engine.Find(id) // If the kind was read before Add, nothing evaluates the object again, so find it again.
	}
	return n
}

// All returns objects of a kind (see neighbor.Cluster). When another object of the kind is created or deleted, the
// object is evaluated again, except because of events: rules that search for events set the time of the next search.
func (r *recorder) All(kind graph.Kind, namespace string, limit int) []neighbor.Neighbor {
	all := revisit.AllOf(kind, strings.TrimPrefix(namespace, neighbor.AnyNamespace))
	if kind.Kind != "Event" && !slices.Contains(r.lists, all) {
		r.lists = append(r.lists, all)
		r.mentions.Add(r.id, all) // Before the list is read, so that no change is missed.
	}
	r.Find(all) // Records the kind if not all of its objects are known.
	found := r.Engine.All(kind, namespace, limit+1)
	if len(found) > limit {
		r.cutAll(kind, namespace, limit)
		found = found[:limit]
	}
	return found
}

// markDependents marks the objects whose rules needed a kind that is read now. If it marked all objects instead, the
// start in a cluster with many kinds would evaluate all objects once for each kind.
func markDependents(e *Engine, read graph.Kind) {
	if dependents := e.unread.Take(read); len(dependents) > 0 {
		e.queue.Mark(e.graph.All(func(kind graph.Kind) bool { return dependents[kind] })...)
	}
}
