package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/wire"
)

// keyOf is the journal's key of an object.
func keyOf(namespace, name string) string { return namespace + "/" + name }

func sameThing(before, after *wire.Object) bool { return before.UID() == after.UID() }

// replace makes the listed objects the state.
func (i *informer) replace(objects []*wire.Object) {
	entries := make([]objectEntry, len(objects))
	for n, o := range objects {
		entries[n] = objectEntry{Key: keyOf(o.Namespace(), o.Name()), Value: o}
	}
	slices.SortFunc(entries, func(a, b objectEntry) int { return compareKeys(a.Key, b.Key) })
	columns := i.source.Columns()
	i.mu.Lock()
	anew := i.purged || len(columns) > 0 && (len(i.columns) == 0 || &columns[0] != &i.columns[0])
	if anew {
		// Cells of the old columns may still be held: nobody may take them for
		// the new ones'.
		i.columns, i.synced, i.purged = columns, false, false
		i.version++
	}
	i.mu.Unlock()
	i.Replace(entries)
	begun := origin{cursor: i.Now(), at: time.Now()}
	i.mu.Lock()
	if anew {
		i.origin = begun
	}
	i.synced, i.listing = true, false
	live := i.open
	i.mu.Unlock()
	if live {
		i.setStatus(Live, time.Now(), "")
	}
	i.Nudge()
}

// objects returns what the filter lets through, by namespace and name, with the
// cursor it belongs to, and what is present with it.
func (i *informer) objects(f *filter) ([]*wire.Object, journal.Cursor, present) {
	for {
		now := i.present()
		f.columns = now.columns
		entries, cursor := i.Snapshot()
		if now.version != i.present().version {
			continue // Cells and columns may not fit.
		}
		entries = slices.DeleteFunc(entries, func(e objectEntry) bool { return !f.match(e.Value) })
		slices.SortFunc(entries, func(a, b objectEntry) int { return compareKeys(a.Key, b.Key) })
		objects := make([]*wire.Object, len(entries))
		for n := range entries {
			objects[n] = entries[n].Value
		}
		return objects, cursor, now
	}
}

// store is the informer as the Reflector's store: it takes notes, and nothing
// else.
type store informer

func (s *store) Add(obj any) error {
	o, managed, err := received(obj)
	if err != nil {
		return err
	}
	weight := 0
	if managed != nil {
		weight = managed.Size()
	}
	(*informer)(s).SetWith(keyOf(o.Namespace(), o.Name()), o, memo{managed: managed}, weight)
	return nil
}

func (s *store) Update(obj any) error { return s.Add(obj) }

func (s *store) Delete(obj any) error {
	o, _, err := received(obj)
	if err != nil {
		return err
	}
	(*informer)(s).Delete(keyOf(o.Namespace(), o.Name()))
	return nil
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
	(*informer)(s).replace(objects)
	return nil
}

func (s *store) Resync() error { return nil }

// received is what the Reflector brings: an Object of a list, or a Version of a
// watch. The managedFields of the latter go with the change, never into the state.
func received(obj any) (*wire.Object, *wire.Managed, error) {
	switch o := obj.(type) {
	case *wire.Object:
		return o, nil, nil
	case *wire.Version:
		return o.Object, o.Managed, nil
	}
	return nil, nil, fmt.Errorf("a %T where an Object should be", obj)
}

// compareKeys orders by namespace, then by name: '/' sorts after '-' and '.',
// which names may hold, and so cannot be compared as text.
func compareKeys(a, b string) int {
	namespaceA, nameA, _ := strings.Cut(a, "/")
	namespaceB, nameB, _ := strings.Cut(b, "/")
	if c := strings.Compare(namespaceA, namespaceB); c != 0 {
		return c
	}
	return strings.Compare(nameA, nameB)
}
