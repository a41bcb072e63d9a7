package related

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/rawjson"
	"glasshouse/internal/watch/relate"
)

// list is a kind to search, with the objects that were found.
type list struct {
	kind     string          // As group/resource.
	resource *watch.Resource // Nil if the viewer knows no such kind.
	status   watch.Status
	entries  []entry // Sorted by namespace and name.
	whole    bool    // The list is complete: an object that it lacks does not exist.
}

// entry is one object of a list.
type entry struct {
	*watch.Item

	of      *list
	owners  []relate.Ref
	via     string           // Path of the JSON member that refers to the finder's object; empty if none does.
	selects *relate.Selector // Nil if the entry does not select pods.
	id      string           // ID of its node; empty if it has none.
}

// search reads the kinds whose objects are likely to have relations to the object, all at the same time.
func (f *finder) search(ctx context.Context) {
	kinds := append(worthLooking(f.kind), own(f.resource, f.known)...)
	f.lists = make([]*list, len(kinds))
	var reading sync.WaitGroup
	for n, kind := range kinds {
		l := &list{kind: kind, resource: f.byName(kind)}
		f.lists[n] = l
		switch {
		case l.resource == nil && f.access.Guest(): // A guest may not know whether the cluster serves it.
			l.status = watch.Status{State: watch.Forbidden, Reason: "Not included in this link."}
		case l.resource == nil:
			l.status = watch.Status{State: watch.Absent, Reason: "Not available in this cluster."}
		case n >= maxKinds:
			l.status = watch.Status{
				State:  watch.Failed,
				Reason: fmt.Sprintf("Limit of %d resource types reached (%d candidates).", maxKinds, len(kinds)),
			}
		default:
			reading.Go(func() { f.read(ctx, l) })
		}
	}
	reading.Wait()
	f.graph.Searched = make([]Searched, len(kinds))
	for n, l := range f.lists {
		f.graph.Searched[n] = Searched{kinds[n], l.status}
		if l.resource != nil {
			f.graph.Searched[n].Ref = l.resource.Ref()
		}
	}
}

// read reads one kind.
func (f *finder) read(ctx context.Context, l *list) {
	query := watch.Query{Resource: l.resource.Ref()}
	if l.resource.Namespaced && f.object.Namespace != "" {
		query.Namespaces = []string{f.object.Namespace}
	}
	snapshot, err := f.access.Snapshot(ctx, query, listWait)
	if err != nil {
		l.status = watch.Status{State: watch.Failed, Reason: err.Error()}
		if p, ok := errors.AsType[*watch.Problem](err); ok {
			l.status.Reason = f.access.Words(p)
			l.status.State = map[watch.Cause]watch.State{
				watch.Unknown: watch.Absent, watch.Refused: watch.Forbidden, watch.Invalid: watch.Failed,
				watch.Unavailable: watch.Failed, watch.Unauthenticated: watch.Forbidden,
			}[p.Cause]
		}
		return
	}
	l.status = snapshot.Status
	if !snapshot.Synced {
		return
	}
	l.whole = snapshot.Status.State == watch.Live && len(snapshot.Status.Namespaces) == 0 && !snapshot.Part
	f.access.Grow(entryMemory * int64(len(snapshot.Objects)))
	l.entries = make([]entry, len(snapshot.Objects))
	for n, o := range snapshot.Objects {
		l.entries[n] = entry{Item: o, of: l}
	}
}

// scan reads the references in the text of each entry. The text of most entries does not contain the object's name, so
// they do not refer to it. Only their owners are read.
func (f *finder) scan() {
	name := rawjson.AppendString(nil, f.object.Name)
	var text []byte
	for _, l := range f.lists {
		selects := selecting(l.kind)
		for n := range l.entries {
			e := &l.entries[n]
			var err error
			if text, err = e.AppendJSON(text[:0]); err != nil {
				continue // Not reached: this program compressed the text.
			}
			if !selects && !bytes.Contains(text, name) {
				e.owners = relate.Owners(text)
				continue
			}
			o := relate.Of(text)
			e.owners, e.selects = o.Owners, o.Selects
			at := slices.IndexFunc(o.Uses, func(r relate.Ref) bool { return f.means(&r, e.Namespace()) })
			if at >= 0 {
				e.via = o.Uses[at].Via
			}
		}
	}
}

// means reports whether r, a reference in an object of the given namespace, points to the finder's object.
func (f *finder) means(r *relate.Ref, namespace string) bool {
	if r.Group != f.object.Group || r.Kind != f.object.Kind || r.Name != f.object.Name {
		return false
	}
	if r.Namespace != "" {
		namespace = r.Namespace
	}
	return !f.resource.Namespaced || namespace == f.object.Namespace
}

// byName returns the preferred version of a resource. name has the form group/resource.
func (f *finder) byName(name string) *watch.Resource {
	return f.find(func(r *watch.Resource) bool { return nameOf(r) == name })
}

// byKind returns the preferred version of the resource of a kind.
func (f *finder) byKind(group, kind string) *watch.Resource {
	return f.find(func(r *watch.Resource) bool { return r.Group == group && r.Kind == kind })
}

func (f *finder) find(is func(*watch.Resource) bool) *watch.Resource {
	for n := range f.known {
		if r := &f.known[n].Resource; r.Preferred && is(r) {
			return r
		}
	}
	return nil
}

// entryOf finds an object in the lists. missing reports that a complete list does not contain the object, so it does
// not exist.
func (f *finder) entryOf(r *watch.Resource, namespace, name string) (e *entry, missing bool) {
	kind := nameOf(r)
	at := slices.IndexFunc(f.lists, func(l *list) bool { return l.kind == kind })
	if at < 0 {
		return nil, false
	}
	l := f.lists[at]
	n, found := slices.BinarySearchFunc(l.entries, 0, func(e entry, _ int) int {
		if c := strings.Compare(e.Namespace(), namespace); c != 0 {
			return c
		}
		return strings.Compare(e.Name(), name)
	})
	if found {
		return &l.entries[n], false
	}
	covered := f.object.Namespace == "" || !r.Namespaced || namespace == f.object.Namespace
	return nil, l.whole && covered
}
