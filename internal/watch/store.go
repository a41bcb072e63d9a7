package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"glasshouse/internal/watch/wire"
)

// keyOf returns the key of an object in the journal.
func keyOf(namespace, name string) string { return namespace + "/" + name }

// namespaceOf returns the namespace of a key.
func namespaceOf(key string) string { return key[:strings.IndexByte(key, '/')] }

func sameThing(before, after *wire.Object) bool { return before.UID() == after.UID() }

// unchanged reports whether two versions of an object look the same to readers. An equal resourceVersion alone does not
// prove that: an API need not set one, and the same version can have another text, or other cells, a moment later.
func unchanged(before, after *wire.Object) bool {
	return before.ResourceVersion() == after.ResourceVersion() && before.SameText(after) && before.SameCells(after)
}

// replace stores the objects of a list as the complete state of the feed's namespace. polled is the reason why the data
// is Stale if the resource is polled. It is empty if the resource is watched, and its state therefore Live.
func (f *feed) replace(objects []*wire.Object, polled string) {
	if f.reserved.outgrown {
		return // The list does not fit into memory. The reconciler handles that in curb.
	}
	entries := make([]objectEntry, len(objects))
	for n, o := range objects {
		entries[n] = objectEntry{Key: keyOf(o.Namespace(), o.Name()), Value: o}
	}
	slices.SortFunc(entries, func(a, b objectEntry) int { return compareKeys(a.Key, b.Key) })
	columns := f.source.Columns()
	anew := f.recolumn(columns)
	// Call arrived before ReplaceIn: otherwise the objects would be counted twice, and would seem not to fit into
	// memory.
	f.arrived()
	// Objects that were in memory were visible before. Only an added object can have become visible without being
	// created.
	f.ReplaceIn(f.covers, entries, f.comes(), memo{})
	if anew {
		f.Forget() // Readers of the old columns start from a new snapshot.
	}
	begun := origin{cursor: f.Now(), at: time.Now()}
	f.mu.Lock()
	if anew {
		f.origin = begun
	}
	// Another feed may have changed the columns in the meantime.
	fit := len(columns) == 0 || wire.SameColumns(columns, f.columns)
	f.now.synced, f.now.outdated = fit, !fit
	f.now.listing, f.now.plain = false, false
	if f.now.open {
		f.now.goOn()
	}
	f.now.replaced = begun.at
	f.now.lists++
	f.sight.seen[f.namespace] = true
	state := Live
	if polled != "" {
		state = Stale
	}
	// Set the state under the same lock, so that no reader sees the list without its state.
	told := (f.now.open || polled != "") && fit && f.now.set(state, time.Now(), polled)
	if polled != "" {
		// The data dates from the last list, not from the first.
		f.now.status.Since = time.Time{}
	}
	f.mu.Unlock()
	f.announce(told)
	f.Nudge()
	f.noted()
}

// covers reports whether a key belongs to the feed's namespace.
func (f *feed) covers(key string) bool { return f.namespace == "" || namespaceOf(key) == f.namespace }

// recolumn makes the columns of a list the columns of the informer. The journal may still contain cells of the old
// columns, which must not be shown under the new ones. Therefore the reconciler lists the other feeds again. recolumn
// reports whether the columns differ, so that readers must start from a new snapshot.
func (f *feed) recolumn(columns []wire.Column) (other bool) {
	f.mu.Lock()
	other = len(columns) > 0 && !wire.SameColumns(columns, f.columns)
	if other {
		for _, one := range f.feeds {
			one.now.synced, one.now.outdated = false, one != f && f.columns != nil
			if state := one.now.status.State; state == Live || state == Stale {
				one.now.status = Status{State: Syncing, Since: time.Now()}
			}
		}
		f.columns = columns
	}
	if other {
		f.version++
	}
	f.mu.Unlock()
	if other {
		f.kick()
	}
	return other
}

// purge removes the rows of the namespaces for which which() is true. any means that there were rows. asked means
// that a reader still requests one of the namespaces.
func (i *informer) purge(which func(namespace string) bool) (any, asked bool) {
	return i.takeOut(which), i.lose(which)
}

func (i *informer) takeOut(which func(namespace string) bool) (any bool) {
	i.masks.Forget(which)
	before := i.Len()
	if before > 0 {
		i.ReplaceIn(func(key string) bool { return which(namespaceOf(key)) }, nil, nil, memo{sight: true})
	}
	return i.Len() < before
}

// purgeAll removes all rows without sending a deletion for each. All readers start from a new snapshot, which they get
// only after the rows are removed.
func (i *informer) purgeAll() {
	all := func(string) bool { return true }
	i.turn()
	i.takeOut(all)
	i.Forget()
	i.lose(all)
	i.Nudge()
}

// beginAnew drops the history, because some of it may not be sent any more. All readers start from a new snapshot.
func (i *informer) beginAnew() {
	i.turn()
	i.Forget()
	i.Nudge()
}

// turn starts a new version of the informer's data. Cursors of the previous version can no longer be resumed.
func (i *informer) turn() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.version++
	i.origin = origin{cursor: i.Now(), at: time.Now()}
	clear(i.sight.lost) // It is needed for older cursors only.
}

// store is a feed in the role of the Store that client-go's Reflector fills. It only records what the Reflector passes.
type store feed

func (s *store) Add(obj any) error {
	o, managed, err := received(obj)
	if err != nil {
		return err
	}
	weight := 0
	if managed != nil {
		weight = managed.Size()
	}
	f := (*feed)(s)
	f.SetWith(keyOf(o.Namespace(), o.Name()), o, memo{managed: managed}, weight)
	f.hear()
	return nil
}

func (s *store) Update(obj any) error { return s.Add(obj) }

func (s *store) Delete(obj any) error {
	o, _, err := received(obj)
	if err != nil {
		return err
	}
	f := (*feed)(s)
	f.Delete(keyOf(o.Namespace(), o.Name()))
	f.hear()
	return nil
}

// lastHeard returns the time at which the last change arrived, or the zero Time if none has.
func (f *feed) lastHeard() time.Time {
	if at := f.heard.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

func (f *feed) hear() {
	f.heard.Store(time.Now().UnixNano())
	f.noted()
}

func (s *store) Replace(list []any, _ string) error {
	objects := make([]*wire.Object, len(list))
	for n, obj := range list {
		o, _, err := received(obj)
		if err != nil {
			return err
		}
		objects[n] = o
	}
	(*feed)(s).replace(objects, "")
	return nil
}

func (s *store) Resync() error { return nil }

// received converts a value from the Reflector: an Object of a list, or a Version of a watch. It also returns the
// managedFields of a Version. They belong to the change, and are never stored in the state.
func received(obj any) (*wire.Object, *wire.Managed, error) {
	switch o := obj.(type) {
	case *wire.Object:
		return o, nil, nil
	case *wire.Version:
		return o.Object, o.Managed, nil
	}
	return nil, nil, fmt.Errorf("unexpected %T, want an Object", obj)
}

// compareKeys orders keys by namespace, then by name. A comparison of the complete texts would be wrong: '/' sorts
// after '-' and '.', which names may contain.
func compareKeys(a, b string) int {
	namespaceA, nameA, _ := strings.Cut(a, "/")
	namespaceB, nameB, _ := strings.Cut(b, "/")
	if c := strings.Compare(namespaceA, namespaceB); c != 0 {
		return c
	}
	return strings.Compare(nameA, nameB)
}
