package informer

import (
	"maps"
	"slices"

	"glasshouse/internal/watch/event"
)

// coverage records which namespaces an informer has listed. When a namespace is added, its objects become visible
// although they were not created. When one is removed, its objects disappear although they were not deleted. The
// informer's lock guards all fields.
type coverage struct {
	covered map[string]bool // Namespaces whose objects are in memory; "" means all.
	// dropped contains the journal offset at which the rows of each namespace were last removed; the key "" means any
	// namespace. A reader cannot resume from an older cursor, because changes after the removal are not in the journal.
	dropped map[string]uint64
}

func newCoverage() coverage {
	return coverage{covered: make(map[string]bool), dropped: make(map[string]uint64)}
}

// entered returns a function that creates the event.Memo (extra data of a change) for an added object with a given
// key. CoverageOnly is set for objects of a namespace that was not listed before: they became visible, but were not
// created.
func (i *Informer) entered() func(key string) event.Memo {
	i.mu.Lock()
	covered := maps.Clone(i.coverage.covered)
	i.mu.Unlock()
	return func(key string) event.Memo {
		return event.Memo{CoverageOnly: !covered[""] && !covered[NamespaceOf(key)]}
	}
}

// dropCoverage records that the rows of each namespace for which matches returns true were removed. It reports
// whether a reader still requests one of these namespaces.
func (i *Informer) dropCoverage(matches func(namespace string) bool) (isRequested bool) {
	i.mu.Lock()
	anyCovered := false
	for ns := range i.coverage.covered {
		anyCovered = anyCovered || matches(ns)
	}
	i.mu.Unlock()
	if !anyCovered {
		return false
	}
	i.Mark() // Cursors from before and after the removal must differ, even if there were no rows.
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

// HasGap reports whether changes after an offset can be missing, because a namespace was not watched at the time.
// namespaces are those that the reader requests; none means all.
func (i *Informer) HasGap(namespaces []string, offset uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, at := range i.coverage.dropped {
		isRequested := slices.Contains(namespaces, ns)
		// For a reader of all namespaces, only namespaces that are watched now count. It gets no changes of other
		// namespaces.
		if len(namespaces) == 0 {
			isRequested = i.feeds[""] != nil || i.feeds[ns] != nil
		}
		if offset < at && (isRequested || ns == "") {
			return true
		}
	}
	return false
}
