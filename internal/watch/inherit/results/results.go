// Package results keeps what the engine of the package inherit has found: the verdict that each object inherits, since
// when an object has not been OK, and whether the engine saw a problem begin. It neither reads nor evaluates objects.
// All of its types are safe for concurrent use.
package results

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Results contains the inherited verdicts, and the objects that are not OK. Call Reset before use.
type Results struct {
	mu        sync.RWMutex
	inherited map[graph.ID]*verdict.Verdict
	// inheritors maps an object to the objects that inherit directly from it. The key can be an object that does not
	// exist.
	inheritors map[graph.ID]map[graph.ID]struct{}
	problems   map[graph.ID]episode
	// recovered contains the episodes of objects that are OK again. An episode continues if the problem returns soon.
	recovered map[graph.ID]episode
	sweptAt   time.Time // When expired episodes were last removed from the map recovered.
}

// Reset removes all results, and returns the objects that had inherited verdicts.
func (r *Results) Reset() (inherited []graph.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	inherited = slices.Collect(maps.Keys(r.inherited))
	r.inherited, r.problems = make(map[graph.ID]*verdict.Verdict), make(map[graph.ID]episode)
	r.inheritors, r.recovered = make(map[graph.ID]map[graph.ID]struct{}), make(map[graph.ID]episode)
	return inherited
}

// Get returns the verdict that an object inherits, or nil. The caller must not modify the verdict.
func (r *Results) Get(id graph.ID) *verdict.Verdict {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.inherited[id]
}

// Set stores the verdict that an object inherits, or removes it if v is nil. It reports whether the verdict changed.
func (r *Results) Set(id graph.ID, v *verdict.Verdict) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.inherited[id]
	if same(before, v) {
		return false
	}
	r.setInheritorLocked(id, before, v)
	if v == nil {
		delete(r.inherited, id)
	} else {
		r.inherited[id] = v
	}
	return true
}

// setInheritorLocked updates the field inheritors after the verdict that an object inherits has changed.
func (r *Results) setInheritorLocked(id graph.ID, before, after *verdict.Verdict) {
	from, hadFrom := NextOf(before)
	to, hasTo := NextOf(after)
	if hadFrom == hasTo && from == to {
		return
	}
	if hadFrom {
		if delete(r.inheritors[from], id); len(r.inheritors[from]) == 0 {
			delete(r.inheritors, from)
		}
	}
	if hasTo {
		if r.inheritors[to] == nil {
			r.inheritors[to] = make(map[graph.ID]struct{})
		}
		r.inheritors[to][id] = struct{}{}
	}
}

// InheritorsOf returns at most limit objects that inherit from an object, directly or through others. isLimited is true
// if there are more.
func (r *Results) InheritorsOf(id graph.ID, limit int) (ids []graph.ID, isLimited bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	seen := map[graph.ID]struct{}{id: {}}
	for next := []graph.ID{id}; len(next) > 0; next = next[1:] {
		for inheritor := range r.inheritors[next[0]] {
			if _, ok := seen[inheritor]; ok {
				continue
			}
			if len(ids) >= limit {
				return ids, true
			}
			seen[inheritor] = struct{}{}
			ids, next = append(ids, inheritor), append(next, inheritor)
		}
	}
	return ids, false
}

// NextOf returns the object from which a verdict is inherited directly. ok is false for a verdict without a cause.
func NextOf(v *verdict.Verdict) (id graph.ID, ok bool) {
	switch {
	case v == nil || v.Cause == nil:
		return graph.ID{}, false
	case v.Via != nil:
		return neighbor.IDOf(v.Via), true
	}
	return neighbor.IDOf(&v.Cause.Object), true
}

// Remove removes a deleted object. It reports whether the object had an inherited verdict.
func (r *Results) Remove(id graph.ID) (hadInherited bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, hadInherited := r.inherited[id]
	r.setInheritorLocked(id, before, nil)
	delete(r.inherited, id)
	delete(r.problems, id)
	delete(r.recovered, id)
	return hadInherited
}

// Track records when an object gets a verdict worse than OK, and when it recovers. isObserved is false if the object
// possibly had the verdict already when the engine first read it.
func (r *Results) Track(id graph.ID, v verdict.Packed, isObserved bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	e, wasProblem := r.problems[id]
	if v.Severity() <= verdict.OK {
		if e.hasProblem {
			e.pausedAt = now
			r.keepRecoveredLocked(id, e)
		}
		delete(r.problems, id)
		return
	}
	if !wasProblem {
		recovered, hadProblem := r.recovered[id]
		delete(r.recovered, id)
		switch {
		case hadProblem && now.Sub(recovered.pausedAt) <= maxRecovery:
			e = recovered
			if e.began.IsZero() {
				e.began = e.firstSeen // The times in the object are no longer useful: they are those of the recovery.
			}
		case isObserved:
			e.leftOK = now
		}
	}
	e.update(now, isObserved, v.Severity().IsProblem())
	r.problems[id] = e
}

// keepRecoveredLocked stores the episode of an object that is OK again. It also deletes episodes that have expired.
func (r *Results) keepRecoveredLocked(id graph.ID, e episode) {
	if e.pausedAt.Sub(r.sweptAt) > maxRecovery {
		r.sweptAt = e.pausedAt
		maps.DeleteFunc(r.recovered, func(_ graph.ID, old episode) bool { return e.pausedAt.Sub(old.pausedAt) > maxRecovery })
	}
	r.recovered[id] = e
}

// Began returns since when an object has not been OK, and since when it has been degraded or failed. A time is zero if
// the engine did not observe the change.
func (r *Results) Began(id graph.ID) (leftOK, began time.Time) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := r.problems[id]
	return e.leftOK, e.began
}

// IsProblem reports whether an object is known and not OK.
func (r *Results) IsProblem(id graph.ID) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.problems[id]
	return ok
}

// ProblemIDs returns the objects that are not OK.
func (r *Results) ProblemIDs() []graph.ID {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Keys(r.problems))
}

// ProblemsOf returns the objects of a kind that are not OK.
func (r *Results) ProblemsOf(kind graph.Kind) []graph.ID {
	return slices.DeleteFunc(r.ProblemIDs(), func(id graph.ID) bool { return id.Kind != kind })
}

// ProblemsIn returns the objects of a namespace that inherit a verdict with one of the reasons.
func (r *Results) ProblemsIn(namespace string, reasons ...string) (ids []graph.ID) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for id, v := range r.inherited {
		if slices.Contains(reasons, v.Reason) && id.Namespace() == namespace {
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
	from, _ := NextOf(a)
	if to, _ := NextOf(b); from != to {
		return false // The paths to the cause differ in the next object.
	}
	return a.Severity == b.Severity && a.Sources == b.Sources && a.Reason == b.Reason && a.Sentence == b.Sentence
}
