package inherit

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Chain returns the path from an object to the cause of its verdict: a neighbor first, and the cause last. Without a
// cause, the path is empty. While some verdicts are out of date, the path can end before the cause.
func (e *Engine) Chain(id graph.ID) (chain []verdict.Object) {
	for range maxOwnerDepth {
		v := e.Inherited(id.Kind, id.Key)
		if v == nil || v.Cause == nil {
			return chain
		}
		next := v.Cause.Object
		if v.Via != nil {
			next = *v.Via
		}
		chain = append(chain, next)
		if next == v.Cause.Object {
			return chain
		}
		id = neighbor.IDOf(&next)
	}
	return chain
}

// maxOwnerDepth limits the length of a chain of owners.
const maxOwnerDepth = 5

// ProblemOwner returns the topmost owner in the chain of degraded or failed owners of an object, or nil if none exists.
func (e *Engine) ProblemOwner(id graph.ID) (top *neighbor.Neighbor) {
	for range maxOwnerDepth {
		_, owners := e.graph.References(id)
		var next *neighbor.Neighbor
		for n := range owners {
			owner := e.Find(owners[n].ID)
			if owner.Object != nil && owner.Object.UID() == owners[n].UID && owner.ID.Kind.Kind != "Node" &&
				owner.Object.Verdict().Severity().IsProblem() {
				next = &owner
				break
			}
		}
		if next == nil {
			break
		}
		top, id = next, next.ID
	}
	return top
}
