package informer

import (
	"maps"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/lease"
)

// coverage records which namespaces have been listed and which were removed. The informer's mutex protects all fields.
type coverage struct {
	covered map[string]bool
	// dropped contains, for each namespace, the journal offset at which its rows were last removed. If there are too many
	// namespaces, only the key "" is left, with the newest offset.
	dropped map[string]uint64
}

func newCoverage() coverage {
	return coverage{covered: make(map[string]bool), dropped: make(map[string]uint64)}
}

func (c *coverage) includes(namespace string) bool { return c.covered[""] || c.covered[namespace] }

// hasListed reports whether a namespace was listed. For all namespaces (""), one listed namespace is enough.
func (c *coverage) hasListed(namespace string) bool {
	return c.includes(namespace) || namespace == "" && len(c.covered) > 0
}

// entered returns a function that creates the Memo of an added object. The Memo has CoverageOnly set if the object's
// namespace had not been listed yet when entered was called.
func (i *Informer) entered() func(key string) event.Memo {
	i.mu.Lock()
	before := coverage{covered: maps.Clone(i.coverage.covered)}
	i.mu.Unlock()
	return func(key string) event.Memo { return event.Memo{CoverageOnly: !before.includes(NamespaceOf(key))} }
}

// dropCoverage records that the rows of the namespaces that match filter were removed. isRequested reports whether a
// reader still requests one of these namespaces.
func (i *Informer) dropCoverage(filter func(namespace string) bool) (isRequested bool) {
	i.mu.Lock()
	anyCovered := false
	for ns := range i.coverage.covered {
		anyCovered = anyCovered || filter(ns)
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
		if filter(ns) {
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

// HasGap reports whether changes after offset can be missing in the journal for the given namespaces, because one of
// them was not watched for some time. Its rows were removed then. An empty list of namespaces means all.
func (i *Informer) HasGap(namespaces []string, offset uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, at := range i.coverage.dropped {
		isRequested := slices.Contains(namespaces, ns)
		// A reader of all namespaces gets only changes of namespaces that are watched now, so only these can have gaps.
		if len(namespaces) == 0 {
			isRequested = i.feeds[""] != nil || i.feeds[ns] != nil
		}
		if offset < at && (isRequested || ns == "") {
			return true
		}
	}
	return false
}
