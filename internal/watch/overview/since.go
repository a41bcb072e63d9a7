package overview

import (
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/onset"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// since returns when the problem of an object began. If this is unknown, it returns when the object was created, and
// isKnown is false. The result is never before the creation, and never before the object was last OK (short recoveries
// do not count).
//
// The times of a cause are used only if isCauseVisible is true, because they are facts about another object.
func since(engine *inherit.Engine, n *neighbor.Neighbor, isCauseVisible bool) (began time.Time, isKnown bool) {
	leftOK, observed := engine.Began(n.ID)
	v, at := n.Object.Verdict(), time.Time{}
	if own := v.Own().Severity(); own.IsProblem() && own == v.Severity() {
		at = ownSince(n)
	}
	// Prefer the observed time if it is earlier: the object possibly contains only the time of its newest crash.
	if at.IsZero() || !observed.IsZero() && observed.Before(at) {
		at = observed
	}
	if at.IsZero() && isCauseVisible {
		at = causeSince(engine, n)
	}
	if at.IsZero() && v.Own().Severity() > verdict.OK {
		at = ownSince(n)
	}
	isKnown = !at.IsZero()
	at = later(at, n.Object.Created())
	if leftOK.Sub(at) > sinceTolerance {
		return leftOK, true
	}
	return at, isKnown
}

// ownSince returns when the problem that an object has by itself (and does not inherit) began, or the zero Time.
func ownSince(n *neighbor.Neighbor) time.Time {
	text, err := n.Object.JSON()
	if err != nil {
		return time.Time{}
	}
	return onset.Of(text)
}

// causeSince returns when the problem that an object inherits began. It uses the time of the cause. If this is unknown,
// it uses the time of the object nearest to the cause. The result is never before the creation of an object on the path
// from this object to its cause. The zero Time means unknown.
func causeSince(engine *inherit.Engine, n *neighbor.Neighbor) (at time.Time) {
	created := time.Time{}
	for _, o := range slices.Backward(engine.Chain(n.ID)) {
		step := engine.Find(neighbor.IDOf(&o))
		if step.Object == nil {
			continue // The cause is not in the cache, for example because it is a missing object.
		}
		created = later(created, step.Object.Created())
		if at.IsZero() && step.Object.Verdict().Own().Severity() > verdict.OK {
			at = ownSince(&step)
		}
		if at.IsZero() {
			_, at = engine.Began(step.ID)
		}
	}
	if at.IsZero() {
		return at
	}
	return later(at, created)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
