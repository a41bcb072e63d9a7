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

// namespaceOf is the namespace of a key.
func namespaceOf(key string) string { return key[:strings.IndexByte(key, '/')] }

func sameThing(before, after *wire.Object) bool { return before.UID() == after.UID() }

// unchanged reports that there is nothing to tell between two versions of an
// object. The resourceVersion alone does not say so: an API need not give one, and
// the same object can have another text, or other cells, a moment later.
func unchanged(before, after *wire.Object) bool {
	return before.ResourceVersion() == after.ResourceVersion() && before.SameText(after) && before.SameCells(after)
}

// replace makes the listed objects the state of the feed's namespace; polled is
// why that is Stale, empty where a watch makes it Live.
func (f *feed) replace(objects []*wire.Object, polled string) {
	if f.reserved.outgrown {
		return // See curb.
	}
	entries := make([]objectEntry, len(objects))
	for n, o := range objects {
		entries[n] = objectEntry{Key: keyOf(o.Namespace(), o.Name()), Value: o}
	}
	slices.SortFunc(entries, func(a, b objectEntry) int { return compareKeys(a.Key, b.Key) })
	columns := f.source.Columns()
	anew := f.recolumn(columns)
	f.arrived() // Before: counted twice it would seem not to fit.
	// What was held was in sight: only adds may be what comes into it.
	f.ReplaceIn(f.covers, entries, f.comes(), memo{})
	if anew {
		f.Forget() // Who read before begins anew.
	}
	begun := origin{cursor: f.Now(), at: time.Now()}
	f.mu.Lock()
	if anew {
		f.origin = begun
	}
	fit := len(columns) == 0 || wire.SameColumns(columns, f.columns) // Another feed may have changed them since.
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
	// At once: nobody is to see the list without its state.
	told := (f.now.open || polled != "") && fit && f.now.set(state, time.Now(), polled)
	if polled != "" {
		f.now.status.Since = time.Time{} // What is held is of the last list, not of the first.
	}
	f.mu.Unlock()
	f.announce(told)
	f.Nudge()
	f.noted()
}

// covers reports whether a key is of the feed's namespace.
func (f *feed) covers(key string) bool { return f.namespace == "" || namespaceOf(key) == f.namespace }

// recolumn makes a list's columns those of the informer. Cells of others may
// still be held: nobody may take them for the new ones', and what other feeds
// have listed is listed again. It reports whether readers begin anew.
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

// purge takes the rows of namespaces out, and reports whether there were any, and
// whether somebody asks for some of them all the same.
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

// purgeAll takes all rows out, which nobody is told one by one: everybody begins
// anew, and has nothing to do so with before they are gone.
func (i *informer) purgeAll() {
	all := func(string) bool { return true }
	i.turn()
	i.takeOut(all)
	i.Forget()
	i.lose(all)
	i.Nudge()
}

// beginAnew forgets the past, for some of it may not be told any more: everybody
// begins anew.
func (i *informer) beginAnew() {
	i.turn()
	i.Forget()
	i.Nudge()
}

// turn begins another version: cursors of before are refused.
func (i *informer) turn() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.version++
	i.origin = origin{cursor: i.Now(), at: time.Now()}
	clear(i.sight.lost) // It goes for older cursors.
}

// store is a feed as the Reflector's store: it takes notes, and nothing else.
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

// lastHeard is when the last change came; the zero Time where none has.
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
