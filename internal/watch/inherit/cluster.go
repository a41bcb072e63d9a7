package inherit

import (
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Find returns what is known about an object (see cause.Cluster).
func (e *Engine) Find(id graph.ID) cause.Neighbor {
	n := cause.Neighbor{ID: id}
	e.mu.RLock()
	r, w, complete := e.served[id.Kind], e.watched[id.Kind], e.complete
	e.mu.RUnlock()
	if r == nil {
		// A kind without a group can be of any group, if it is not of the core group.
		if complete && id.Group != "" {
			n.Presence = cause.Missing
		}
		return n
	}
	n.Resource = r.Ref()
	if w == nil {
		return n
	}
	if o, ok, _ := w.informer.Get(id.Key); ok {
		n.Presence, n.Object = cause.Present, o
		return n
	}
	var namespaces []string
	if namespace := id.Namespace(); namespace != "" {
		namespaces = []string{namespace}
	}
	// Without a name, the question is whether all objects are in the graph.
	if w.informer.CurrentState(namespaces).Synced && (id.Name() != "" || w.isRead.Load()) {
		n.Presence = cause.Missing
	}
	return n
}

// All returns objects of a kind in a namespace, sorted by name (see cause.Cluster).
func (e *Engine) All(kind graph.Kind, namespace string, limit int) (found []cause.Neighbor) {
	var keys []string
	for _, key := range e.graph.Keys(kind) {
		if strings.HasPrefix(key, namespace+"/") {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, informer.CompareKeys)
	for _, key := range keys[:min(limit, len(keys))] {
		if n := e.Find(graph.ID{Kind: kind, Key: key}); n.Object != nil {
			found = append(found, n)
		}
	}
	return found
}

// Users returns the objects that use an object (see cause.Cluster).
func (e *Engine) Users(id graph.ID, limit int) []graph.ID { return e.graph.Users(id, limit) }

// Owned returns the objects of an owner (see cause.Cluster).
func (e *Engine) Owned(uid string, limit int) []graph.ID { return e.graph.Owned(uid, limit) }

// Selected returns the pods that a selector selects (see cause.Cluster).
func (e *Engine) Selected(namespace string, s *objectrefs.Selector, limit int) []graph.ID {
	return e.graph.Selected(namespace, s, limit)
}

// References returns what an object uses, and its owners (see cause.Cluster).
func (e *Engine) References(id graph.ID) (uses []graph.Use, owners []graph.Owner) {
	return e.graph.References(id)
}

// Selector returns the pod selector of an object, or nil (see cause.Cluster).
func (e *Engine) Selector(id graph.ID) *objectrefs.Selector { return e.graph.Selector(id) }

// Chain returns the objects from the neighbor of an object to the cause of its verdict. It is empty without a cause,
// and complete only if the verdicts of all these objects are current.
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
		group, _, _ := strings.Cut(next.Resource, "/")
		if group == "core" {
			group = ""
		}
		id = graph.NewID(graph.Kind{Group: group, Kind: next.Kind}, next.Namespace, next.Name)
	}
	return chain
}

// maxOwnerDepth limits the length of a chain of owners.
const maxOwnerDepth = 5

// ProblemOwner returns the topmost owner of an object that is degraded or failed, or nil.
func (e *Engine) ProblemOwner(id graph.ID) (top *cause.Neighbor) {
	for range maxOwnerDepth {
		_, owners := e.graph.References(id)
		var next *cause.Neighbor
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
