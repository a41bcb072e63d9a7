package watch

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"glasshouse/internal/watch/status"
)

// maxLeases limits how many namespaces of one resource are watched one by one because readers request them. Clients
// could otherwise request any number.
const maxLeases = 500

// namespaceLease is the lease of one namespace that readers request: how many readers use it, and since when it is
// requested.
type namespaceLease struct {
	refs        int
	requestedAt time.Time
	idleSince   time.Time // When the last reader released it.
}

// acquireLeases requests that the given namespaces are watched, even if all namespaces together cannot be watched. The
// caller must call release exactly once. After that, the namespaces stay watched for the pool's linger time.
//
// isNamed reports whether the client named the namespaces. If it did not, they are the known namespaces of the cluster.
// While watching all namespaces together is forbidden, known namespaces are watched anyway and need no lease.
func (i *informer) acquireLeases(namespaces []string, isNamed bool) (release func(), err error) {
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
				"request fewer of them with ns.", maxLeases, i.scope.Resource.GroupResource())
	}
	for _, ns := range namespaces {
		if i.leases[ns] == nil {
			i.leases[ns] = &namespaceLease{requestedAt: time.Now()}
		}
		i.leases[ns].refs++
	}
	i.mu.Unlock()
	if added > 0 {
		i.requestReconcile()
	}
	return func() { i.releaseLeases(namespaces) }, nil
}

// releaseLeases releases the leases that acquireLeases acquired. While one feed watches all namespaces, leases without
// readers are deleted at once.
func (i *informer) releaseLeases(namespaces []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.leases) > maxLeases {
		i.requestReconcile() // A namespace that had to wait may be watched now.
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

// makeLeaseRoomLocked makes room for leases of more namespaces by dropping leases without readers, longest idle first.
// It keeps the leases of the namespaces in requested. It reports whether there is room. If dropping would not free
// enough, it drops none.
func (i *informer) makeLeaseRoomLocked(added int, requested []string) bool {
	excess := len(i.leases) + added - maxLeases
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

// expireLeases drops the leases that have had no readers for the given time.
func (i *informer) expireLeases(idleTime time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, a := range i.leases {
		if a.refs == 0 && time.Since(a.idleSince) >= idleTime {
			delete(i.leases, ns)
		}
	}
}

// splitLeases divides the requested namespaces into those that may be watched now, at most maxLeases, and those that
// must wait. There can be more than maxLeases, because requests are not limited while one feed watches all namespaces.
// Namespaces that are watched already are first, then the earliest requests. Namespaces without readers are last.
func (i *informer) splitLeases() (admitted, waiting []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	admitted = slices.Collect(maps.Keys(i.leases))
	if len(admitted) <= maxLeases {
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
	return admitted[:maxLeases], admitted[maxLeases:]
}
