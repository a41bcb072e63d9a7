package inherit

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
)

// Heirs returns at most limit objects whose verdicts name an object as the cause, or as a step to the cause.
// isLimited is true if there are more.
func (e *Engine) Heirs(id graph.ID, limit int) (heirs []cause.Neighbor, isLimited bool) {
	ids, isLimited := e.results.heirsOf(id, limit)
	for _, heir := range ids {
		if n := e.Find(heir); n.Object != nil {
			heirs = append(heirs, n)
		}
	}
	return heirs, isLimited
}

// Indexes reports whether the index contains all objects of a kind with their references, in one or all namespaces.
func (e *Engine) Indexes(kind graph.Kind, namespace string) bool {
	e.index.mu.RLock()
	w := e.watched[kind]
	e.index.mu.RUnlock()
	if w == nil || w.informer.Scope.Metadata || isEndpoints(kind) || !w.isRead.Load() {
		return false
	}
	var namespaces []string
	if namespace != "" {
		namespaces = []string{namespace}
	}
	return w.informer.CurrentState(namespaces).Synced
}

// Related returns the objects that are related to an object, and the object itself, without duplicates: its owners
// and their owners, what it owns directly or through others, what it uses, its users, the pods that it selects, and
// the selectors of all these pods. Each relation of an object has at most limit objects.
func (e *Engine) Related(id graph.ID, limit int) []graph.ID {
	found := &relatedObjects{seen: map[graph.ID]struct{}{id: {}}, ids: []graph.ID{id}}
	next := id
	for range maxOwnerDepth {
		_, owners := e.graph.References(next)
		if len(owners) == 0 {
			break
		}
		for n := range owners {
			found.add(owners[n].ID)
		}
		next = owners[0].ID
	}
	uses, _ := e.graph.References(id)
	for n := range uses {
		found.add(uses[n].Target)
	}
	if node := e.graph.NodeOf(id); node != "" {
		found.add(graph.NewID(graph.Kind{Kind: "Node"}, "", node))
	}
	found.add(e.graph.Users(id, limit)...)
	isOwned := []graph.ID{id}
	for depth := 0; depth < maxOwnerDepth && len(isOwned) > 0 && len(found.ids) < limit; depth++ {
		var children []graph.ID
		for _, owner := range isOwned {
			if uid := e.uidOf(owner); uid != "" {
				children = append(children, found.add(e.graph.Owned(uid, limit)...)...)
			}
		}
		isOwned = children
	}
	if s := e.graph.Selector(id); s != nil {
		found.add(e.graph.Selected(id.Namespace(), s, limit)...)
	}
	for _, related := range found.ids[:min(limit, len(found.ids))] {
		if related.Kind == (graph.Kind{Kind: "Pod"}) && related.Namespace() == id.Namespace() {
			found.add(e.graph.Selectors(related)...)
		}
	}
	return found.ids
}

type relatedObjects struct {
	seen map[graph.ID]struct{}
	ids  []graph.ID
}

// add adds objects, and returns those that are new.
func (r *relatedObjects) add(ids ...graph.ID) (added []graph.ID) {
	for _, id := range ids {
		if _, ok := r.seen[id]; ok || id.Kind.Kind == "Event" {
			continue
		}
		r.seen[id] = struct{}{}
		r.ids, added = append(r.ids, id), append(added, id)
	}
	return added
}
