package informer

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Key returns the key of an object in the journal: "namespace/name".
func Key(namespace, name string) string { return namespace + "/" + name }

// NamespaceOf returns the namespace in a journal key ("namespace/name").
func NamespaceOf(key string) string { return key[:strings.IndexByte(key, '/')] }

// unchanged reports whether two versions of an object are the same for readers. It compares more than the
// resourceVersions, because some APIs do not set them.
func unchanged(before, after *compact.Object) bool {
	return before.ResourceVersion() == after.ResourceVersion() && before.SameText(after) && before.SameCells(after) &&
		before.Verdict().Same(after.Verdict()) && bytes.Equal(compact.Extra(before), compact.Extra(after))
}

// replace stores all objects of a complete list. If the resource is polled (listed repeatedly), pollReason is the
// reason, and the state becomes Stale.
func (f *feed) replace(objects []*compact.Object, pollReason string) {
	if f.reserved.IsOversized {
		return
	}
	i := f.informer
	entries := make([]Entry, len(objects))
	for n, o := range objects {
		entries[n] = Entry{Key: Key(o.Namespace(), o.Name()), Value: o}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return CompareKeys(a.Key, b.Key) })
	columns := f.source.Columns()
	columnsChanged := f.setColumns(columns)
	// Release the reservation before the journal contains the objects. Otherwise, both would count, and the objects would
	// seem not to fit into memory.
	f.reserved.Release()
	// If a namespace was not watched before, i.entered() marks its objects: they became visible, but were not created.
	i.overdue.Write(func() {
		for n := range entries {
			entries[n].Value = i.options.withInherited(entries[n].Key, entries[n].Value)
		}
		i.Replace(f.covers, entries, i.entered(), event.Memo{})
	}, entries...)
	if columnsChanged {
		i.Forget()
	}
	start := EpochStart{Cursor: i.Now(), at: time.Now()}
	// Set the state, the coverage and epochStart under one lock. Otherwise, readers could get an old state with new rows.
	f.update(func(s *feedState) (isChanged bool) {
		if columnsChanged {
			i.epochStart = start
		}
		i.coverage.covered[f.namespace] = true
		// The informer's columns can differ from those of this list, because another namespace can have been listed after
		// the call of setColumns.
		columnsMatch := len(columns) == 0 || printer.Same(columns, i.columns)
		return s.listed(start.at, columnsMatch, pollReason)
	})
	i.Wake()
	i.options.ObjectChanged()
}

func (f *feed) covers(key string) bool { return f.namespace == "" || NamespaceOf(key) == f.namespace }

// setColumns sets the columns of the informer. If they have changed, all readers restart, and the other feeds must list
// again. changed reports this.
func (f *feed) setColumns(columns []printer.Column) (changed bool) {
	i := f.informer
	i.mu.Lock()
	changed = len(columns) > 0 && !printer.Same(columns, i.columns)
	if changed {
		// Mark each feed as not synced: until it lists again, its rows have cells for the old columns.
		for _, sibling := range i.feeds {
			sibling.state.synced, sibling.state.outdated = false, sibling != f && i.columns != nil
			if state := sibling.state.status.State; state == status.Live || state == status.Stale {
				sibling.state.status = status.Status{State: status.Syncing, Since: time.Now()}
			}
		}
		i.columns = columns
		i.version++
	}
	i.mu.Unlock()
	if changed {
		i.RequestReconcile()
	}
	return changed
}

// withInherited returns the object with a new verdict. This verdict combines the object's own verdict with the verdict
// that it inherits from other objects. If the object already has this verdict, withInherited returns the object itself.
func (o *Options) withInherited(key string, object *compact.Object) *compact.Object {
	next := object.Verdict().Own()
	if v := o.Inherited(key); v != nil {
		next = verdict.Inherit(next, v)
	}
	if next.Same(object.Verdict()) {
		return object
	}
	return object.WithVerdict(next)
}

// UpdateVerdict stores the verdict of an object after the verdict that the object inherits has changed.
func (i *Informer) UpdateVerdict(key string) {
	i.overdue.Write(func() {
		o, ok, _ := i.Get(key)
		if !ok {
			return
		}
		if next := i.options.withInherited(key, o); next != o {
			i.Set(key, next, event.Memo{}, 0)
		}
	})
}

// Replace stores all objects of a complete list.
func (f *feed) Replace(objects []*compact.Object) { f.replace(objects, "") }

// Set stores an object that a watch reports. managed contains its managedFields, which the journal stores with the
// change, and not with the object.
func (f *feed) Set(o *compact.Object, managed *compact.Managed) {
	weight := 0
	if managed != nil {
		weight = managed.Size()
	}
	i, key := f.informer, Key(o.Namespace(), o.Name())
	i.overdue.Write(func() {
		i.Set(key, i.options.withInherited(key, o), event.Memo{Managed: managed}, weight)
	}, Entry{Key: key, Value: o})
	f.recordChange()
}

// Delete removes an object that a watch reports as deleted.
func (f *feed) Delete(o *compact.Object) {
	i := f.informer
	i.overdue.Write(func() { i.Delete(Key(o.Namespace(), o.Name())) })
	f.recordChange()
}

// reevaluate evaluates an object again, and stores a copy if the verdict differs. An object that cannot be decompressed
// keeps its verdict.
func reevaluate(i *Informer, key string, now time.Time) {
	o, ok, _ := i.Get(key)
	if !ok {
		return
	}
	if newer, err := i.options.Client.Reevaluate(o, now); err == nil && !newer.Verdict().Same(o.Verdict()) {
		i.Set(key, newer, event.Memo{}, 0)
	}
}

func (f *feed) recordChange() {
	f.lastChangeAt.Store(time.Now().UnixNano())
	f.informer.options.ObjectChanged()
}

func (f *feed) lastChangeTime() time.Time {
	if at := f.lastChangeAt.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// evict removes the rows of the namespaces that match filter. hadRows reports whether there were any. isRequested
// reports whether a reader still requests one of these namespaces.
func (i *Informer) evict(filter func(namespace string) bool) (hadRows, isRequested bool) {
	return i.deleteRows(filter), i.dropCoverage(filter)
}

func (i *Informer) deleteRows(filter func(namespace string) bool) (hadRows bool) {
	i.masks.Forget(filter)
	before := i.Len()
	if before > 0 {
		i.Replace(func(key string) bool { return filter(NamespaceOf(key)) }, nil, nil, event.Memo{CoverageOnly: true})
	}
	return i.Len() < before
}

// resetReaders makes all readers restart from a snapshot. It drops the history, which can contain forbidden data.
func (i *Informer) resetReaders() {
	i.advanceVersion()
	i.Forget()
	i.Wake()
}

// advanceVersion starts a new epoch of the informer's data, so that readers cannot resume from cursors of older epochs.
func (i *Informer) advanceVersion() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.version++
	i.epochStart = EpochStart{Cursor: i.Now(), at: time.Now()}
	clear(i.coverage.dropped)
}

// CompareKeys orders journal keys ("namespace/name") by namespace, then by name. A comparison of the texts would give
// another order, because '-' and '.' are less than '/'.
func CompareKeys(a, b string) int {
	namespaceA, nameA, _ := strings.Cut(a, "/")
	namespaceB, nameB, _ := strings.Cut(b, "/")
	if c := strings.Compare(namespaceA, namespaceB); c != 0 {
		return c
	}
	return strings.Compare(nameA, nameB)
}
