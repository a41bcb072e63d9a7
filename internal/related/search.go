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

// list is a kind that is looked through.
type list struct {
	kind     string          // As group/resource.
	resource *watch.Resource // Nil if the viewer knows no such kind.
	status   watch.Status
	entries  []entry // By namespace and name.
	whole    bool    // What it lacks is not there.
}

// entry is an object of a list.
type entry struct {
	*watch.Item

	of      *list
	owners  []relate.Ref
	via     string           // How it uses the object; empty where it does not.
	selects *relate.Selector // Nil where it is of no kind that does.
	id      string           // Of its node, where it has one.
}

// search reads the kinds that are worth looking through, all at a time.
func (f *finder) search(ctx context.Context) {
	kinds := append(worthLooking(f.kind), own(f.resource, f.known)...)
	f.lists = make([]*list, len(kinds))
	var reading sync.WaitGroup
	for n, kind := range kinds {
		l := &list{kind: kind, resource: f.byName(kind)}
		f.lists[n] = l
		switch {
		case l.resource == nil && f.access.Guest(): // Whether the cluster serves it is not shared.
			l.status = watch.Status{State: watch.Forbidden, Reason: "It is not part of this link."}
		case l.resource == nil:
			l.status = watch.Status{State: watch.Absent, Reason: "The cluster does not serve it."}
		case n >= maxKinds:
			l.status = watch.Status{State: watch.Failed, Reason: fmt.Sprintf("It was not looked through: %d kinds are, and these are %d.", maxKinds, len(kinds))}
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
			l.status.State = map[watch.Cause]watch.State{watch.Unknown: watch.Absent, watch.Refused: watch.Forbidden, watch.Invalid: watch.Failed, watch.Unavailable: watch.Failed, watch.Unauthenticated: watch.Forbidden}[p.Cause]
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

// scan reads the relations of what was found. Nearly all of it has nothing to do
// with the object, as its name does not even stand in it: of that the owners
// alone are read.
func (f *finder) scan() {
	name := rawjson.AppendString(nil, f.object.Name)
	var text []byte
	for _, l := range f.lists {
		selects := selecting(l.kind)
		for n := range l.entries {
			e := &l.entries[n]
			var err error
			if text, err = e.AppendJSON(text[:0]); err != nil {
				continue // It was compressed by the same program.
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

// means reports whether a name in an object of a namespace is that of the object.
func (f *finder) means(r *relate.Ref, namespace string) bool {
	if r.Group != f.object.Group || r.Kind != f.object.Kind || r.Name != f.object.Name {
		return false
	}
	if r.Namespace != "" {
		namespace = r.Namespace
	}
	return !f.resource.Namespaced || namespace == f.object.Namespace
}

// byName finds a resource in its preferred version.
func (f *finder) byName(name string) *watch.Resource {
	return f.find(func(r *watch.Resource) bool { return nameOf(r) == name })
}

// byKind finds the resource of a kind in its preferred version.
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

// entryOf finds an object in what was looked through; missing says that it would
// have been found.
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
