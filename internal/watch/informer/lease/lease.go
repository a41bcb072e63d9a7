// Package lease counts, for each namespace of a resource, the readers that request this namespace.
package lease

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Max is the maximum number of namespaces of one resource that are watched one by one. Without this limit, clients
// could start any number of watches.
const Max = 500

// Set contains a lease for each namespace that readers request, or requested recently. It is not safe for concurrent
// use.
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

// IsUsed reports whether a namespace has a lease with at least one reader.
func (s Set) IsUsed(namespace string) bool { return s[namespace] != nil && s[namespace].readers > 0 }

// MakeRoom reports whether the set has room for leases of the given namespaces. If necessary, it deletes those leases
// that have had no readers for the longest time, but only if this makes enough room.
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

// Acquire adds one reader to the lease of each given namespace. A namespace without a lease gets one.
func (s Set) Acquire(namespaces []string) {
	for _, ns := range namespaces {
		if s[ns] == nil {
			s[ns] = &lease{requestedAt: time.Now()}
		}
		s[ns].readers++
	}
}

// Release undoes one call of Acquire. If isKept is true, a lease without readers stays until Expire deletes it.
// Otherwise, it is deleted at once.
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

// Expire deletes each lease that has had no readers for the given time.
func (s Set) Expire(idleTime time.Duration) {
	maps.DeleteFunc(s, func(ns string, one *lease) bool {
		return !s.IsUsed(ns) && time.Since(one.idleSince) >= idleTime
	})
}

// Split divides the namespaces with leases into at most Max that can be watched (admitted), and those that must wait.
// First are the namespaces that have readers and are already watched. Other namespaces with readers follow in the order
// of their requests. Namespaces without readers are last.
func (s Set) Split(isWatched func(namespace string) bool) (admitted, waiting []string) {
	admitted = slices.Collect(maps.Keys(s))
	// There can be more than Max leases: while one watch covers all namespaces, their number is not limited.
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
