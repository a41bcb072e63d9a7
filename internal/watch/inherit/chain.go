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
	owners := ownersOf(e, id, func(o neighbor.Object) bool { return o.Verdict().Severity().IsProblem() })
	if len(owners) == 0 {
		return nil
	}
	return &owners[len(owners)-1]
}

// Owners returns the owner of an object, the owner of this owner, and so on. It omits owners that no longer exist.
func (e *Engine) Owners(id graph.ID) (owners []neighbor.Neighbor) {
	return ownersOf(e, id, func(neighbor.Object) bool { return true })
}

func ownersOf(e *Engine, id graph.ID, accept func(neighbor.Object) bool) (found []neighbor.Neighbor) {
	for range maxOwnerDepth {
		_, owners := e.graph.References(id) // The owner that is the controller is the first.
		known := len(found)
		for n := range owners {
			owner := e.Find(owners[n].ID)
			if owner.Object != nil && owner.Object.UID() == owners[n].UID && owner.ID.Kind.Kind != "Node" &&
				accept(owner.Object) {
				found, id = append(found, owner), owner.ID
				break
			}
		}
		if len(found) == known {
			break
		}
	}
	return found
}
