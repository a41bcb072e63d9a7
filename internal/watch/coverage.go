package watch

import (
	"maps"
	"slices"

	"glasshouse/internal/watch/event"
)

// coverage is the coverage of an informer: the namespaces whose objects it has listed. If coverage grows, objects
// become visible that were not created. If it shrinks, objects disappear that were not deleted. The informer's lock
// guards the coverage.
type coverage struct {
	covered map[string]bool // Namespaces that have been listed and not removed since; "" means all.
	// dropped contains, for each namespace, the offset at which its rows were last removed; "" means any namespace. A
	// reader with an older cursor knew the namespace, and would miss changes that happened while it was not covered.
	dropped map[string]uint64
}

func newCoverage() coverage {
	return coverage{covered: make(map[string]bool), dropped: make(map[string]uint64)}
}

// entered returns a function that creates the event.Memo (extra data of a change) for an add of the object with a key.
// It marks objects in namespaces that were not covered until now: such objects have become visible, but were not
// created.
func (i *informer) entered() func(key string) event.Memo {
	i.mu.Lock()
	covered := maps.Clone(i.coverage.covered)
	i.mu.Unlock()
	return func(key string) event.Memo {
		return event.Memo{CoverageOnly: !covered[""] && !covered[namespaceOf(key)]}
	}
}

// dropCoverage records that the rows of the namespaces for which matches() is true have been removed. It reports
// whether a reader still requests one of these namespaces.
func (i *informer) dropCoverage(matches func(namespace string) bool) (isRequested bool) {
	i.mu.Lock()
	anyCovered := false
	for ns := range i.coverage.covered {
		anyCovered = anyCovered || matches(ns)
	}
	i.mu.Unlock()
	if !anyCovered {
		return false
	}
	i.Mark() // Use up an offset even if no rows were removed: the cursors before and after must differ.
	retained, _ := i.Retained()
	now := i.Now().Offset
	i.mu.Lock()
	defer i.mu.Unlock()
	dropped := i.coverage.dropped
	maps.DeleteFunc(dropped, func(_ string, at uint64) bool {
		return at+uint64(retained) <= now //nolint:gosec // retained is not negative.
	})
	for ns := range i.coverage.covered {
		if matches(ns) {
			delete(i.coverage.covered, ns)
			dropped[ns] = now
			isRequested = isRequested || i.leases[ns] != nil && i.leases[ns].refs > 0
		}
	}
	if len(dropped) > maxLeases {
		clear(dropped)
		dropped[""] = now
	}
	return isRequested
}

// hasGap reports whether some changes after an offset are unknown, because their namespace was not covered at the time.
// namespaces are those that the reader requests; none means all.
func (i *informer) hasGap(namespaces []string, offset uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, at := range i.coverage.dropped {
		isRequested := slices.Contains(namespaces, ns)
		// If the reader requests all, a namespace that is not covered now does not count: its changes are not sent
		// anyway.
		if len(namespaces) == 0 {
			isRequested = i.feeds[""] != nil || i.feeds[ns] != nil
		}
		if offset < at && (isRequested || ns == "") {
			return true
		}
	}
	return false
}
