package inherit

import (
	"maps"
	"slices"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// results contains the inherited verdicts, and the objects that are not OK.
type results struct {
	mu        sync.RWMutex
	inherited map[graph.ID]*verdict.Verdict
	problems  map[graph.ID]struct{}
}

// reset removes all results, and returns the objects that had inherited verdicts.
func (r *results) reset() (inherited []graph.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	inherited = slices.Collect(maps.Keys(r.inherited))
	r.inherited, r.problems = make(map[graph.ID]*verdict.Verdict), make(map[graph.ID]struct{})
	return inherited
}

func (r *results) get(id graph.ID) *verdict.Verdict {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.inherited[id]
}

// set stores the verdict that an object inherits; nil for none. It reports whether the verdict has changed.
func (r *results) set(id graph.ID, v *verdict.Verdict) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case same(r.inherited[id], v):
		return false
	case v == nil:
		delete(r.inherited, id)
	default:
		r.inherited[id] = v
	}
	return true
}

// remove removes a deleted object. It reports whether the object had an inherited verdict.
func (r *results) remove(id graph.ID) (hadInherited bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, hadInherited = r.inherited[id]
	delete(r.inherited, id)
	delete(r.problems, id)
	return hadInherited
}

// track records whether an object is OK.
func (r *results) track(id graph.ID, v verdict.Packed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v.Severity() > verdict.OK {
		r.problems[id] = struct{}{}
	} else {
		delete(r.problems, id)
	}
}

// problemIDs returns the objects that are not OK.
func (r *results) problemIDs() []graph.ID {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Keys(r.problems))
}

// withReason returns the objects whose inherited verdict has one of the reasons.
func (r *results) withReason(reasons ...string) (ids []graph.ID) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for id, v := range r.inherited {
		if slices.Contains(reasons, v.Reason) {
			ids = append(ids, id)
		}
	}
	return ids
}

func same(a, b *verdict.Verdict) bool {
	if a == nil || b == nil {
		return a == b
	}
	if (a.Cause == nil) != (b.Cause == nil) || a.Cause != nil && *a.Cause != *b.Cause {
		return false
	}
	return a.Severity == b.Severity && a.Sources == b.Sources && a.Reason == b.Reason && a.Sentence == b.Sentence
}
