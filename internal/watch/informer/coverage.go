package informer

import (
	"maps"
	"slices"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/informer/lease"
)

// coverage records which namespaces an informer has listed. When a namespace is added, its objects become visible,
// although none was created. When a namespace is removed, its objects disappear, although none was deleted. The
// informer's lock guards all fields.
type coverage struct {
	covered map[string]bool
	// dropped contains the journal offset at which the rows of each namespace were last removed; the key "" means any
	// namespace. A reader cannot resume from an older cursor, because later changes of the namespace are missing.
	dropped map[string]uint64
}

func newCoverage() coverage {
	return coverage{covered: make(map[string]bool), dropped: make(map[string]uint64)}
}

func (c *coverage) includes(namespace string) bool { return c.covered[""] || c.covered[namespace] }

// entered returns a function that returns the event.Memo (extra data of a change) for an added object with the given
// key. The Memo has CoverageOnly if the object's namespace was not listed before: the object became visible, but was
// not created.
func (i *Informer) entered() func(key string) event.Memo {
	i.mu.Lock()
	before := coverage{covered: maps.Clone(i.coverage.covered)}
	i.mu.Unlock()
	return func(key string) event.Memo { return event.Memo{CoverageOnly: !before.includes(NamespaceOf(key))} }
}

// hasListed reports whether the informer has listed a namespace before, so that its objects can be in memory. For all
// namespaces (""), one listed namespace is enough.
func (i *Informer) hasListed(namespace string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.coverage.includes(namespace) || namespace == "" && len(i.coverage.covered) > 0
}

// dropCoverage records that the rows of some namespaces were removed: those for which matches returns true.
// isRequested reports whether a reader still requests one of these namespaces.
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
	i.Mark()
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
			isRequested = isRequested || i.leases.IsUsed(ns)
		}
	}
	if len(dropped) > lease.Max {
		clear(dropped)
		dropped[""] = now
	}
	return isRequested
}

// HasGap reports whether the journal can lack changes after an offset, because a requested namespace was not watched
// for some time. An empty list of namespaces means all.
func (i *Informer) HasGap(namespaces []string, offset uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, at := range i.coverage.dropped {
		isRequested := slices.Contains(namespaces, ns)
		// A reader that requests all namespaces gets only changes of namespaces that are watched now. The other ones
		// do not count.
		if len(namespaces) == 0 {
			isRequested = i.feeds[""] != nil || i.feeds[ns] != nil
		}
		if offset < at && (isRequested || ns == "") {
			return true
		}
	}
	return false
}
