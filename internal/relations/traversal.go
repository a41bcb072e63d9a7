package relations

import (
	"context"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

func (f *finder) addOwners(ctx context.Context) {
	f.builder.add(Node{
		ID: f.self(), Ref: f.resource.Ref(), Kind: f.resource.Kind,
		Namespace: f.object.Namespace, Name: f.object.Name, UID: f.object.UID, State: Present,
		Severity: severityText(watch.IndexOf(f.access).Severity(f.resource, f.object.Namespace, f.object.Name)),
	})
	f.addOwnersOf(ctx, f.self(), f.object.Namespace, f.object.Owners, 0)
}

// addOwnersOf adds the owners of the node with the ID from and, recursively, their owners. depth counts the levels.
func (f *finder) addOwnersOf(ctx context.Context, from, namespace string, owners []objectrefs.Ref, depth int) {
	var targets []*target
	for n := range owners {
		if t, ok := f.target(&owners[n], namespace); ok && depth < maxOwnerDepth {
			t.needsOwners = true
			targets = append(targets, t)
		}
	}
	f.readTargets(ctx, targets...)
	for n, t := range targets {
		_, known := f.builder.nodes[t.node.ID]
		if !f.builder.add(t.node) {
			return
		}
		f.builder.link(t.node.ID, from, "owns", owners[n].Via)
		if !known { // do not follow an owner twice, because owners can form a cycle
			f.addOwnersOf(ctx, t.node.ID, t.Namespace, t.owners, depth+1)
		}
	}
}

func (f *finder) addUsed(ctx context.Context) {
	var targets []*target
	for n := range f.object.Uses {
		if t, ok := f.target(&f.object.Uses[n], f.object.Namespace); ok && len(targets) < maxNodes {
			targets = append(targets, t)
		}
	}
	f.readTargets(ctx, targets...)
	for _, t := range targets {
		if f.builder.add(t.node) {
			f.builder.link(f.self(), t.node.ID, "uses", t.Via)
		}
	}
}

func (f *finder) each(visit func(*entry)) {
	for _, l := range f.lists {
		for n := range l.entries {
			e := &l.entries[n]
			if l.kind != f.kind || e.Name() != f.object.Name || e.Namespace() != f.object.Namespace {
				visit(e)
			}
		}
	}
}

func (f *finder) addOwned() {
	ownedBy := make(map[string][]*entry)
	f.each(func(e *entry) {
		for _, owner := range e.owners {
			ownedBy[owner.UID] = append(ownedBy[owner.UID], e)
		}
	})
	seen := map[string]bool{"": true}
	for next := []string{f.object.UID}; len(next) > 0; next = next[1:] {
		if seen[next[0]] {
			continue
		}
		seen[next[0]] = true
		f.builder.assignNodes(ownedBy[next[0]])
		for _, e := range ownedBy[next[0]] {
			if _, ok := f.builder.nodes[e.ownID()]; ok {
				next = append(next, e.UID())
			}
		}
	}
}

func (f *finder) addUsers() {
	var users []*entry
	f.each(func(e *entry) {
		if e.via != "" {
			users = append(users, e)
		}
	})
	f.builder.assignNodes(users)
	if f.kind == "core/persistentvolumeclaims" {
		f.using = slices.DeleteFunc(slices.Clone(users), func(e *entry) bool { return e.list.kind != "core/pods" })
	}
	for _, e := range users {
		if e.id != "" {
			f.builder.link(e.id, f.self(), "uses", e.via)
		}
	}
}

func (f *finder) addSelected() {
	if f.object.Selects == nil {
		return
	}
	f.each(func(e *entry) {
		if f.selects(f.object.Selects, f.object.Namespace, e) {
			f.pods = append(f.pods, e)
		}
	})
	f.builder.assignNodes(f.pods)
}

func (f *finder) addPodOwners(ctx context.Context) {
	followed := make(map[string]bool)
	for _, e := range slices.Concat(f.pods, f.using) {
		if e.id == "" {
			continue
		}
		if len(e.owners) > 0 && !followed[e.owners[0].UID] && len(followed) < maxChains {
			followed[e.owners[0].UID] = true
			f.addOwnersOf(ctx, e.id, e.Namespace(), e.owners[:1], 0)
		}
	}
}

// addNodesOfUsers adds the Kubernetes Nodes of the pods that use the object. These Nodes show where a volume is
// mounted.
func (f *finder) addNodesOfUsers(ctx context.Context) {
	var targets []*target
	var from []string
	for _, e := range f.using {
		if e.id == "" || e.node == nil || len(targets) == maxChains {
			continue
		}
		if t, ok := f.target(e.node, e.Namespace()); ok {
			targets, from = append(targets, t), append(from, e.id)
		}
	}
	f.readTargets(ctx, targets...)
	for n, t := range targets {
		if f.builder.add(t.node) {
			f.builder.link(from[n], t.node.ID, "uses", t.Via)
		}
	}
}

func (f *finder) linkSelected() {
	for _, e := range f.pods {
		if e.id != "" {
			f.builder.linkSelector(f.self(), e.id, f.object.Selects.Via)
		}
	}
}

func (f *finder) linkOwners() {
	byUID := make(map[string]string)
	for _, n := range f.builder.graph.Nodes {
		if n.UID != "" {
			byUID[n.UID] = n.ID
		}
	}
	for _, e := range f.builder.withNode {
		byUID[e.UID()] = e.id
	}
	for _, e := range f.builder.withNode {
		for _, owner := range e.owners {
			if id := byUID[owner.UID]; id != "" {
				f.builder.link(id, e.id, "owns", owner.Via)
			}
		}
	}
}

func (f *finder) addSelectors() {
	pods := f.builder.withNode
	var found []*entry
	f.each(func(e *entry) {
		if e.selects == nil {
			return
		}
		var to []string
		if f.kind == "core/pods" && e.Namespace() == f.object.Namespace && e.selects.Matches(f.object.Labels) {
			to = append(to, f.self())
		}
		for _, pod := range pods {
			if f.selects(e.selects, e.Namespace(), pod) {
				to = append(to, pod.id)
			}
		}
		if len(to) == 0 {
			return
		}
		f.builder.assignNodes([]*entry{e})
		if e.id == "" {
			return
		}
		for _, id := range to {
			f.builder.linkSelector(e.id, id, e.selects.Via)
		}
		found = append(found, e)
	})
	if len(found) > 0 {
		f.linkOwners()
	}
}

// selects reports whether a selector in the given namespace matches an object. Selectors match only pods in their own
// namespace.
func (f *finder) selects(s *objectrefs.Selector, namespace string, e *entry) bool {
	return e.list.kind == "core/pods" && e.Namespace() == namespace && s.Matches(f.labels.of(e.Labels()))
}
