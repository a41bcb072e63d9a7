package watch

import (
	"maps"
	"slices"
)

// sight is the coverage of an informer: the namespaces whose objects it has listed. If coverage grows, objects become
// visible that were not created. If it shrinks, objects disappear that were not deleted. The informer's lock guards the
// sight.
type sight struct {
	seen map[string]bool // Namespaces that have been listed and not removed since; "" means all.
	// lost contains, for each namespace, the offset at which its rows were last removed; "" means any namespace. A
	// reader with an older cursor knew the namespace, and would miss changes that happened while it was not covered.
	lost map[string]uint64
}

func newSight() sight { return sight{seen: make(map[string]bool), lost: make(map[string]uint64)} }

// comes returns a function that creates the memo (extra data of a change) for an add of the object with a key. It marks
// objects in namespaces that were not covered until now: such objects have become visible, but were not created.
func (i *informer) comes() func(key string) memo {
	i.mu.Lock()
	seen := maps.Clone(i.sight.seen)
	i.mu.Unlock()
	return func(key string) memo { return memo{sight: !seen[""] && !seen[namespaceOf(key)]} }
}

// lose records that the rows of the namespaces for which which() is true have been removed. It reports whether a
// reader still requests one of these namespaces.
func (i *informer) lose(which func(namespace string) bool) (asked bool) {
	i.mu.Lock()
	some := false
	for ns := range i.sight.seen {
		some = some || which(ns)
	}
	i.mu.Unlock()
	if !some {
		return false
	}
	i.Mark() // Use up an offset even if no rows were removed: the cursors before and after must differ.
	kept, _ := i.Kept()
	now := i.Now().Offset
	i.mu.Lock()
	defer i.mu.Unlock()
	lost := i.sight.lost
	maps.DeleteFunc(lost, func(_ string, at uint64) bool {
		return at+uint64(kept) <= now //nolint:gosec // Not negative.
	})
	for ns := range i.sight.seen {
		if which(ns) {
			delete(i.sight.seen, ns)
			lost[ns] = now
			asked = asked || i.asked[ns] != nil && i.asked[ns].holders > 0
		}
	}
	if len(lost) > maxAsked {
		clear(lost)
		lost[""] = now
	}
	return asked
}

// missed reports whether some changes after an offset are unknown, because their namespace was not covered at the time.
// namespaces are those that the reader requests; none means all.
func (i *informer) missed(namespaces []string, offset uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, at := range i.sight.lost {
		of := slices.Contains(namespaces, ns)
		// If the reader requests all, a namespace that is not covered now does not count: its changes are not sent
		// anyway.
		if len(namespaces) == 0 {
			of = i.feeds[""] != nil || i.feeds[ns] != nil
		}
		if offset < at && (of || ns == "") {
			return true
		}
	}
	return false
}
