package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	if other := len(columns) > 0 && (len(i.columns) == 0 || &columns[0] != &i.columns[0]); other || i.purged {
		// Cells of the old columns may still be held: nobody may take them for
		// the new ones'.
		i.columns, i.synced, i.purged = columns, false, false
		i.version++
	}
	i.mu.Unlock()
	i.Replace(entries)
	i.mu.Lock()
	i.synced, i.listing = true, false
	live := i.open
	i.mu.Unlock()
	if live {
		i.setStatus(Live, time.Now(), "")
	}
	i.Nudge()
}

// store is the informer as the Reflector's store: it takes notes, and nothing
// else.
type store informer

func (s *store) Add(obj any) error {
	o, ok := obj.(*wire.Object)
	if !ok {
		return fmt.Errorf("a %T where an Object should be", obj)
	}
	(*informer)(s).Set(keyOf(o.Namespace(), o.Name()), o)
	return nil
}

func (s *store) Update(obj any) error { return s.Add(obj) }

func (s *store) Delete(obj any) error {
	o, ok := obj.(*wire.Object)
	if !ok {
		return fmt.Errorf("a %T where an Object should be", obj)
	}
	(*informer)(s).Delete(keyOf(o.Namespace(), o.Name()))
	return nil
}

func (s *store) Replace(list []any, _ string) error {
	objects := make([]*wire.Object, len(list))
	for n, obj := range list {
		o, ok := obj.(*wire.Object)
		if !ok {
			return fmt.Errorf("a %T where an Object should be", obj)
		}
		objects[n] = o
	}
	(*informer)(s).replace(objects)
	return nil
}

func (s *store) Resync() error { return nil }

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
