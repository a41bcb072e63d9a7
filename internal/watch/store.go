package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/status"
)

// keyOf returns the key of an object in the journal.
func keyOf(namespace, name string) string { return namespace + "/" + name }

// namespaceOf returns the namespace of a key.
func namespaceOf(key string) string { return key[:strings.IndexByte(key, '/')] }

func sameUID(before, after *listwatch.Object) bool { return before.UID() == after.UID() }

// unchanged reports whether two versions of an object are the same to readers. An equal resourceVersion alone does not
// prove that: an API need not set one, and the same version can have another text, or other cells, a moment later.
func unchanged(before, after *listwatch.Object) bool {
	return before.ResourceVersion() == after.ResourceVersion() && before.SameText(after) && before.SameCells(after)
}

// replace stores the objects of a list as the complete state of the feed's namespace. pollReason is the reason why the
// data is Stale if the resource is polled. It is empty if the resource is watched, and its state therefore Live.
func (f *feed) replace(objects []*listwatch.Object, pollReason string) {
	if f.reserved.isOversized {
		return // The list does not fit into memory. The reconciler handles that in dropOversized.
	}
	entries := make([]objectEntry, len(objects))
	for n, o := range objects {
		entries[n] = objectEntry{Key: keyOf(o.Namespace(), o.Name()), Value: o}
	}
	slices.SortFunc(entries, func(a, b objectEntry) int { return compareKeys(a.Key, b.Key) })
	columns := f.source.Columns()
	columnsChanged := f.setColumns(columns)
	// Call releaseReservation before ReplaceIn: otherwise the objects would be counted twice, and would seem not to fit
	// into memory.
	f.releaseReservation()
	// Objects that were in memory were visible before. Only an added object can have become visible without being
	// created.
	f.ReplaceIn(f.covers, entries, f.entered(), event.Memo{})
	if columnsChanged {
		f.Forget() // Readers of the old columns start from a new snapshot.
	}
	start := epochStart{cursor: f.Now(), at: time.Now()}
	f.mu.Lock()
	if columnsChanged {
		f.epochStart = start
	}
	// Another feed may have changed the columns in the meantime.
	columnsMatch := len(columns) == 0 || listwatch.SameColumns(columns, f.columns)
	f.state.synced, f.state.outdated = columnsMatch, !columnsMatch
	f.state.listing, f.state.usePlainOnce = false, false
	if f.state.open {
		f.state.markContinued()
	}
	f.state.listedAt = start.at
	f.state.lists++
	f.coverage.covered[f.namespace] = true
	state := status.Live
	if pollReason != "" {
		state = status.Stale
	}
	// Set the state under the same lock, so that no reader sees the list without its state.
	statusChanged := (f.state.open || pollReason != "") && columnsMatch && f.state.set(state, time.Now(), pollReason)
	if pollReason != "" {
		// The data dates from the last list, not from the first.
		f.state.status.Since = time.Time{}
	}
	f.mu.Unlock()
	f.announce(statusChanged)
	f.Wake()
	f.objectChanged()
}

// covers reports whether a key belongs to the feed's namespace.
func (f *feed) covers(key string) bool { return f.namespace == "" || namespaceOf(key) == f.namespace }

// setColumns makes the columns of a list the columns of the informer. The journal may still contain cells of the old
// columns, which must not be shown under the new ones. Therefore the reconciler lists the other feeds again. setColumns
// reports whether the columns differ, so that readers must start from a new snapshot.
func (f *feed) setColumns(columns []listwatch.Column) (changed bool) {
	f.mu.Lock()
	changed = len(columns) > 0 && !listwatch.SameColumns(columns, f.columns)
	if changed {
		for _, sibling := range f.feeds {
			sibling.state.synced, sibling.state.outdated = false, sibling != f && f.columns != nil
			if state := sibling.state.status.State; state == status.Live || state == status.Stale {
				sibling.state.status = status.Status{State: status.Syncing, Since: time.Now()}
			}
		}
		f.columns = columns
	}
	if changed {
		f.version++
	}
	f.mu.Unlock()
	if changed {
		f.requestReconcile()
	}
	return changed
}

// evict removes the rows of the namespaces for which matches() is true. hadRows means that there were rows. isRequested
// means that a reader still requests one of the namespaces.
func (i *informer) evict(matches func(namespace string) bool) (hadRows, isRequested bool) {
	return i.deleteRows(matches), i.dropCoverage(matches)
}

func (i *informer) deleteRows(matches func(namespace string) bool) (hadRows bool) {
	i.masks.Forget(matches)
	before := i.Len()
	if before > 0 {
		i.ReplaceIn(func(key string) bool { return matches(namespaceOf(key)) }, nil, nil, event.Memo{CoverageOnly: true})
	}
	return i.Len() < before
}

// evictAll removes all rows without sending a deletion for each. All readers start from a new snapshot, which they get
// only after the rows are removed.
func (i *informer) evictAll() {
	all := func(string) bool { return true }
	i.advanceVersion()
	i.deleteRows(all)
	i.Forget()
	i.dropCoverage(all)
	i.Wake()
}

// resetReaders drops the history, because some of it may not be sent any more. All readers start from a new snapshot.
func (i *informer) resetReaders() {
	i.advanceVersion()
	i.Forget()
	i.Wake()
}

// advanceVersion starts a new version of the informer's data. Cursors of the previous version can no longer be resumed.
func (i *informer) advanceVersion() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.version++
	i.epochStart = epochStart{cursor: i.Now(), at: time.Now()}
	clear(i.coverage.dropped) // It is needed for older cursors only.
}

// store is a feed in the role of the Store that client-go's Reflector fills. It only records what the Reflector passes.
type store feed

func (s *store) Add(obj any) error {
	o, managed, err := objectFrom(obj)
	if err != nil {
		return err
	}
	weight := 0
	if managed != nil {
		weight = managed.Size()
	}
	f := (*feed)(s)
	f.SetWith(keyOf(o.Namespace(), o.Name()), o, event.Memo{Managed: managed}, weight)
	f.recordChange()
	return nil
}

func (s *store) Update(obj any) error { return s.Add(obj) }

func (s *store) Delete(obj any) error {
	o, _, err := objectFrom(obj)
	if err != nil {
		return err
	}
	f := (*feed)(s)
	f.Delete(keyOf(o.Namespace(), o.Name()))
	f.recordChange()
	return nil
}

// lastChangeTime returns the time at which the last change arrived, or the zero Time if none has.
func (f *feed) lastChangeTime() time.Time {
	if at := f.lastChangeAt.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

func (f *feed) recordChange() {
	f.lastChangeAt.Store(time.Now().UnixNano())
	f.objectChanged()
}

func (s *store) Replace(list []any, _ string) error {
	objects := make([]*listwatch.Object, len(list))
	for n, obj := range list {
		o, _, err := objectFrom(obj)
		if err != nil {
			return err
		}
		objects[n] = o
	}
	(*feed)(s).replace(objects, "")
	return nil
}

func (s *store) Resync() error { return nil }

// objectFrom converts a value from the Reflector: an Object of a list, or a Version of a watch. It also returns the
// managedFields of a Version. They belong to the change, and are never stored in the state.
func objectFrom(obj any) (*listwatch.Object, *listwatch.Managed, error) {
	switch o := obj.(type) {
	case *listwatch.Object:
		return o, nil, nil
	case *listwatch.Version:
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
