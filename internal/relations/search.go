package relations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

type list struct {
	kind     string             // group and plural of the resource, such as core/pods
	resource *resource.Resource // nil if the viewer has no access
	status   status.Status
	entries  []entry // sorted by namespace and name
	complete bool
	// neighbors is set if the index of references contains the objects of this list. The field entries then contains only
	// those with a relation to the object of the graph.
	neighbors *watch.Neighbors
}

type entry struct {
	*watch.Item

	list    *list
	owners  []objectrefs.Ref
	via     string               // path of the JSON member that refers to f.object
	node    *objectrefs.Ref      // Kubernetes Node of a pod that uses f.object
	selects *objectrefs.Selector // pod selector of the object; nil for none
	id      string
}

func (f *finder) search(ctx context.Context) {
	kinds := append(likelyKinds(f.kind), operatorKinds(f.resource, f.known)...)
	neighbors, isIndexed := watch.IndexOf(f.access).Neighbors(f.resource, f.object.Namespace, f.object.Name)
	if isIndexed {
		kinds = f.withDependents(kinds, neighbors)
	}
	f.lists = make([]*list, len(kinds))
	var reading sync.WaitGroup
	for n, kind := range kinds {
		l := &list{kind: kind, resource: f.known.byName(kind)}
		f.lists[n] = l
		switch {
		case l.resource == nil && f.access.IsGuest(): // Do not reveal whether the kind exists.
			l.status = status.Status{State: status.Forbidden, Reason: "Not included in this link."}
		case l.resource == nil:
			l.status = status.Status{State: status.Absent, Reason: "Not available in this cluster."}
		case isIndexed && neighbors.Covers(l.resource):
			l.neighbors = neighbors
			reading.Go(func() { f.read(ctx, l) })
		case n >= maxKinds:
			l.status = status.Status{
				State:  status.Failed,
				Reason: fmt.Sprintf("Limit of %d resource types reached (%d candidates).", maxKinds, len(kinds)),
			}
		default:
			reading.Go(func() { f.read(ctx, l) })
		}
	}
	reading.Wait()
	f.builder.graph.Searched = make([]Searched, len(kinds))
	for n, l := range f.lists {
		f.builder.graph.Searched[n] = Searched{kinds[n], l.status}
		if l.resource != nil {
			f.builder.graph.Searched[n].Ref = l.resource.Ref()
		}
	}
}

// withDependents returns the given kinds, and the kinds of the objects that use f.object or that f.object owns. It adds
// only kinds of which the index contains all related objects.
func (f *finder) withDependents(kinds []string, neighbors *watch.Neighbors) []string {
	for n := range f.known {
		r := &f.known[n].Resource
		if r.Preferred && neighbors.Depend(r) && neighbors.Covers(r) && !slices.Contains(kinds, nameOf(r)) {
			kinds = append(kinds, nameOf(r))
		}
	}
	return kinds
}

// read reads the objects of one kind, if possible only in the namespace of f.object. If the index contains the kind,
// read gets only the objects with a relation to f.object.
func (f *finder) read(ctx context.Context, l *list) {
	q := query.Query{Resource: l.resource.Ref()}
	if l.resource.Namespaced && f.object.Namespace != "" {
		q.Namespaces = []string{f.object.Namespace}
	}
	snapshot, err := f.snapshot(ctx, l, q)
	if err != nil {
		l.status = status.Status{State: status.Failed, Reason: err.Error()}
		if p, ok := errors.AsType[*status.Problem](err); ok {
			l.status.Reason = f.access.PublicDetail(p)
			l.status.State = map[status.Cause]status.State{
				status.Unknown: status.Absent, status.Refused: status.Forbidden, status.Invalid: status.Failed,
				status.Unavailable: status.Failed, status.Unauthenticated: status.Forbidden,
			}[p.Cause]
		}
		return
	}
	l.status = snapshot.Status
	if !snapshot.Synced {
		return
	}
	l.complete = snapshot.Status.State == status.Live && len(snapshot.Status.Namespaces) == 0 && !snapshot.IsPartial
	f.access.Grow(entryMemory * int64(len(snapshot.Objects)))
	l.entries = make([]entry, len(snapshot.Objects))
	for n, o := range snapshot.Objects {
		l.entries[n] = entry{Item: o, list: l}
	}
}

func (f *finder) snapshot(ctx context.Context, l *list, q query.Query) (*watch.Snapshot, error) {
	if l.neighbors != nil {
		return l.neighbors.Snapshot(ctx, q)
	}
	return f.access.Snapshot(ctx, q, listWait)
}

func (f *finder) readRefs() {
	name := jsonscan.AppendString(nil, f.object.Name)
	var text []byte
	for _, l := range f.lists {
		mayHaveSelector := selectsPods(l.kind)
		for n := range l.entries {
			e := &l.entries[n]
			var err error
			if text, err = e.AppendJSON(text[:0]); err != nil {
				continue // AppendJSON never fails, because this program has compressed the text
			}
			// If an object's text lacks the name of f.object, it cannot refer to f.object, so read only the object's owners.
			if !mayHaveSelector && !bytes.Contains(text, name) {
				e.owners = objectrefs.Owners(text)
				continue
			}
			o := objectrefs.Of(text)
			e.owners, e.selects = o.Owners, o.Selects
			index := slices.IndexFunc(o.Uses, func(r objectrefs.Ref) bool { return f.refersToObject(&r, e.Namespace()) })
			if index < 0 {
				continue
			}
			e.via = o.Uses[index].Via
			if l.kind == "core/pods" {
				e.node = nodeOf(o.Uses)
			}
		}
	}
}

func nodeOf(uses []objectrefs.Ref) *objectrefs.Ref {
	index := slices.IndexFunc(uses, func(r objectrefs.Ref) bool { return r.Group == "" && r.Kind == "Node" })
	if index < 0 {
		return nil
	}
	return &uses[index]
}

func (f *finder) refersToObject(r *objectrefs.Ref, namespace string) bool {
	if r.Group != f.object.Group || r.Kind != f.object.Kind || r.Name != f.object.Name {
		return false
	}
	if r.Namespace != "" {
		namespace = r.Namespace
	}
	return !f.resource.Namespaced || namespace == f.object.Namespace
}

// entryOf finds an object in the searched lists. missing means that a complete list does not contain the object.
func (f *finder) entryOf(r *resource.Resource, namespace, name string) (e *entry, missing bool) {
	kind := nameOf(r)
	index := slices.IndexFunc(f.lists, func(l *list) bool { return l.kind == kind })
	if index < 0 {
		return nil, false
	}
	l := f.lists[index]
	n, found := slices.BinarySearchFunc(l.entries, 0, func(e entry, _ int) int {
		if c := strings.Compare(e.Namespace(), namespace); c != 0 {
			return c
		}
		return strings.Compare(e.Name(), name)
	})
	if found {
		return &l.entries[n], false
	}
	if l.neighbors != nil && !l.neighbors.Includes(r, namespace, name) {
		return nil, false
	}
	isCovered := f.object.Namespace == "" || !r.Namespaced || namespace == f.object.Namespace
	return nil, l.complete && isCovered
}
