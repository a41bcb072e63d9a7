package inherit

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// Inheritors returns at most limit objects whose verdicts name an object as the cause, or as a step to the cause.
// isLimited is true if there are more.
func (e *Engine) Inheritors(id graph.ID, limit int) (inheritors []neighbor.Neighbor, isLimited bool) {
	ids, isLimited := e.results.InheritorsOf(id, limit)
	for _, inheritor := range ids {
		if n := e.Find(inheritor); n.Object != nil {
			inheritors = append(inheritors, n)
		}
	}
	return inheritors, isLimited
}

// Reads reports whether the engine reads all objects of a kind in a namespace, at least their names. The namespace ""
// means all namespaces.
func (i *index) Reads(kind graph.Kind, namespace string) bool {
	i.mu.RLock()
	w := i.watched[kind]
	i.mu.RUnlock()
	if w == nil || !w.isRead.Load() || w.informer.Scope.Labels != "" {
		return false
	}
	var namespaces []string
	if namespace != "" {
		namespaces = []string{namespace}
	}
	return w.informer.CurrentState(namespaces).Synced
}

// Indexes reports whether the index contains all objects of a kind in a namespace, with their references.
func (i *index) Indexes(kind graph.Kind, namespace string) bool {
	i.mu.RLock()
	w := i.watched[kind]
	i.mu.RUnlock()
	return w != nil && !w.informer.Scope.Metadata && i.Reads(kind, namespace)
}

// Related are the objects that are related to one object.
type Related struct {
	// All contains, without duplicates: the object itself, its direct and indirect owners, the objects that it uses,
	// Dependents, the pods that it selects, and the objects that select any of these pods.
	All []graph.ID
	// Dependents contains the objects that use the object, and those that it owns directly or indirectly.
	Dependents []graph.ID
}

// Related returns the objects that are related to an object: for example, at most limit objects that use this object.
func (i *index) Related(id graph.ID, limit int) Related {
	found := &relatedObjects{seen: map[graph.ID]struct{}{id: {}}, ids: []graph.ID{id}}
	i.addOwners(found, id)
	uses, _ := i.graph.References(id)
	for n := range uses {
		found.add(uses[n].Target)
	}
	if node := i.graph.NodeOf(id); node != "" {
		found.add(graph.NewID(graph.Kind{Kind: "Node"}, "", node))
	}
	before := len(found.ids)
	found.add(i.graph.Users(id, limit)...)
	i.addOwned(found, id, limit)
	dependents := found.ids[before:len(found.ids):len(found.ids)]
	if s := i.graph.Selector(id); s != nil {
		found.add(i.graph.Selected(id.Namespace(), s, limit)...)
	}
	for _, related := range found.ids[:min(limit, len(found.ids))] {
		if related.Kind == (graph.Kind{Kind: "Pod"}) {
			found.add(i.graph.Selectors(related)...)
		}
	}
	return Related{found.ids, dependents}
}

func (i *index) addOwners(found *relatedObjects, id graph.ID) {
	next := []graph.ID{id}
	for depth := 0; depth < maxOwnerDepth && len(next) > 0; depth++ {
		var above []graph.ID
		for _, owned := range next {
			_, owners := i.graph.References(owned)
			for n := range owners {
				above = append(above, found.add(owners[n].ID)...)
			}
		}
		next = above
	}
}

func (i *index) addOwned(found *relatedObjects, id graph.ID, limit int) {
	next := []graph.ID{id}
	for depth := 0; depth < maxOwnerDepth && len(next) > 0 && len(found.ids) < limit; depth++ {
		var below []graph.ID
		for _, owner := range next {
			uid := i.uidOf(owner)
			if uid == "" {
				continue
			}
			owned := i.graph.Owned(uid, limit)
			found.add(owned...)
			below = append(below, owned...)
		}
		next = below
	}
}

type relatedObjects struct {
	seen map[graph.ID]struct{}
	ids  []graph.ID
}

// add adds objects, except events, and returns those that are new.
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
