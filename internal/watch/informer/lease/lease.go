// Package lease counts the readers that request single namespaces of a resource.
package lease

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Max limits how many namespaces of one resource are watched one by one, because clients can request any number.
const Max = 500

// Set contains a lease for each requested namespace. It is not safe for concurrent use.
type Set map[string]*lease

type lease struct {
	readers     int
	requestedAt time.Time
	idleSince   time.Time
}

// Missing returns how many of the given namespaces have no lease.
func (s Set) Missing(namespaces []string) (count int) {
	for _, ns := range namespaces {
		if s[ns] == nil {
			count++
		}
	}
	return count
}

// IsUsed reports whether a namespace has a lease with readers.
func (s Set) IsUsed(namespace string) bool { return s[namespace] != nil && s[namespace].readers > 0 }

// MakeRoom reports whether leases for the namespaces fit. It deletes the longest idle leases, if that is enough.
func (s Set) MakeRoom(namespaces []string) bool {
	excess := len(s) + s.Missing(namespaces) - Max
	if excess <= 0 {
		return true
	}
	isRequested := make(map[string]bool, len(namespaces))
	for _, ns := range namespaces {
		isRequested[ns] = true
	}
	var idle []string
	for ns := range s {
		if !s.IsUsed(ns) && !isRequested[ns] {
			idle = append(idle, ns)
		}
	}
	if len(idle) < excess {
		return false
	}
	slices.SortFunc(idle, func(a, b string) int { return s[a].idleSince.Compare(s[b].idleSince) })
	for _, ns := range idle[:excess] {
		delete(s, ns)
	}
	return true
}

// Acquire adds a reader to the lease of each of the namespaces.
func (s Set) Acquire(namespaces []string) {
	for _, ns := range namespaces {
		if s[ns] == nil {
			s[ns] = &lease{requestedAt: time.Now()}
		}
		s[ns].readers++
	}
}

// Release undoes one call of Acquire. If isKept is true, leases without readers stay until Expire deletes them.
func (s Set) Release(namespaces []string, isKept bool) {
	for _, ns := range namespaces {
		if s[ns].readers--; s[ns].readers > 0 {
			continue
		}
		if s[ns].idleSince = time.Now(); !isKept {
			delete(s, ns)
		}
	}
}

// Expire deletes the leases that have had no readers for the given time.
func (s Set) Expire(idleTime time.Duration) {
	maps.DeleteFunc(s, func(ns string, one *lease) bool {
		return !s.IsUsed(ns) && time.Since(one.idleSince) >= idleTime
	})
}

// Split divides the requested namespaces into at most Max that can be watched, and those that must wait. Watched
// namespaces are first, then the earliest requests, then namespaces without readers.
func (s Set) Split(isWatched func(namespace string) bool) (admitted, waiting []string) {
	admitted = slices.Collect(maps.Keys(s))
	// There can be more than Max leases, because leases are not limited while one watch covers all namespaces.
	if len(admitted) <= Max {
		return admitted, nil
	}
	rank := func(ns string) int {
		switch {
		case !s.IsUsed(ns):
			return 2
		case !isWatched(ns):
			return 1
		}
		return 0
	}
	slices.SortFunc(admitted, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), s[a].requestedAt.Compare(s[b].requestedAt), cmp.Compare(a, b))
	})
	return admitted[:Max], admitted[Max:]
}
