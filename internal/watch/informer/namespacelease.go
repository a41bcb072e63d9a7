package informer

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"glasshouse/internal/watch/status"
)

// MaxLeases is the maximum number of namespaces of one resource that are watched one by one because readers request
// them. Without this limit, clients could request any number.
const MaxLeases = 500

// namespaceLease counts the readers that request one namespace. While a namespace has a lease, it can have a watch of
// its own.
type namespaceLease struct {
	refs        int
	requestedAt time.Time
	idleSince   time.Time
}

// AcquireLeases requests that the given namespaces are watched: one by one if all namespaces cannot be watched
// together. The caller must call release exactly once. After that, the namespaces stay watched for the pool's linger
// time.
//
// isNamed means that the client named the namespaces. Otherwise, they are the known namespaces of the cluster. If
// watching all namespaces together is forbidden, known namespaces are watched anyway and need no lease.
func (i *Informer) AcquireLeases(namespaces []string, isNamed bool) (release func(), err error) {
	i.mu.Lock()
	added := 0
	for _, ns := range namespaces {
		if i.leases[ns] == nil {
			added++
		}
	}
	if current, isDenied := i.denied[""]; isDenied && added > 0 && !i.makeLeaseRoomLocked(added, namespaces) {
		i.mu.Unlock()
		if !isNamed && current.State == status.Forbidden {
			return func() {}, nil
		}
		return nil, status.Invalidf("Too many namespaces",
			"%d namespaces of %s are in use, and no more can be watched one by one; "+
				"request fewer of them with ns.", MaxLeases, i.Scope.Resource.GroupResource())
	}
	for _, ns := range namespaces {
		if i.leases[ns] == nil {
			i.leases[ns] = &namespaceLease{requestedAt: time.Now()}
		}
		i.leases[ns].refs++
	}
	i.mu.Unlock()
	if added > 0 {
		i.RequestReconcile()
	}
	return func() { i.releaseLeases(namespaces) }, nil
}

// releaseLeases undoes one call of AcquireLeases. While one watch covers all namespaces, it deletes leases without
// readers at once. Otherwise, ExpireLeases deletes them later.
func (i *Informer) releaseLeases(namespaces []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.leases) > MaxLeases {
		i.RequestReconcile()
	}
	for _, ns := range namespaces {
		a := i.leases[ns]
		if a.refs--; a.refs > 0 {
			continue
		}
		if a.idleSince = time.Now(); i.feeds[""] != nil {
			delete(i.leases, ns)
		}
	}
}

// makeLeaseRoomLocked makes room for the given number of added leases, and reports whether there is room. It deletes
// leases without readers, longest idle first, except those of the requested namespaces. If deleting would not free
// enough room, it deletes none.
func (i *Informer) makeLeaseRoomLocked(added int, requested []string) bool {
	excess := len(i.leases) + added - MaxLeases
	if excess <= 0 {
		return true
	}
	isRequested := make(map[string]bool, len(requested))
	for _, ns := range requested {
		isRequested[ns] = true
	}
	var idle []string
	for ns, a := range i.leases {
		if a.refs == 0 && !isRequested[ns] {
			idle = append(idle, ns)
		}
	}
	if len(idle) < excess {
		return false
	}
	slices.SortFunc(idle, func(a, b string) int { return i.leases[a].idleSince.Compare(i.leases[b].idleSince) })
	for _, ns := range idle[:excess] {
		delete(i.leases, ns)
	}
	return true
}

// ExpireLeases deletes the leases that have had no readers for the given time.
func (s *Feeds) ExpireLeases(idleTime time.Duration) {
	i := s.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, a := range i.leases {
		if a.refs == 0 && time.Since(a.idleSince) >= idleTime {
			delete(i.leases, ns)
		}
	}
}

// SplitLeases divides the namespaces with leases into those that can be watched now, at most MaxLeases, and those
// that must wait. There can be more than MaxLeases, because leases are not limited while one watch covers all
// namespaces. Namespaces with a watch of their own are first, then those with the earliest requests. Namespaces
// without readers are last.
func (s *Feeds) SplitLeases() (admitted, waiting []string) {
	i := s.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	admitted = slices.Collect(maps.Keys(i.leases))
	if len(admitted) <= MaxLeases {
		return admitted, nil
	}
	rank := func(ns string) int {
		switch {
		case i.leases[ns].refs == 0:
			return 2
		case i.feeds[ns] == nil:
			return 1
		}
		return 0
	}
	slices.SortFunc(admitted, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)), i.leases[a].requestedAt.Compare(i.leases[b].requestedAt), cmp.Compare(a, b),
		)
	})
	return admitted[:MaxLeases], admitted[MaxLeases:]
}
