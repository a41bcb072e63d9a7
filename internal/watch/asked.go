package watch

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// maxAsked limits how many namespaces of one resource are watched one by one because readers request them. Clients
// could otherwise request any number.
const maxAsked = 500

// asked is the lease of one namespace that readers request: how many readers hold it, and since when.
type asked struct {
	holders int
	since   time.Time
	idle    time.Time // When the last holder released it.
}

// ask requests that the given namespaces are watched, even if all namespaces together cannot be watched. The caller
// must call release exactly once. After that, the namespaces stay watched for the pool's linger time.
//
// named reports whether the client named the namespaces. If it did not, they are the known namespaces of the cluster.
// While watching all namespaces together is forbidden, known namespaces are watched anyway and need no lease.
func (i *informer) ask(namespaces []string, named bool) (release func(), err error) {
	i.mu.Lock()
	news := 0
	for _, ns := range namespaces {
		if i.asked[ns] == nil {
			news++
		}
	}
	if why, partly := i.denied[""]; partly && news > 0 && !i.roomLocked(news, namespaces) {
		i.mu.Unlock()
		if !named && why.State == Forbidden {
			return func() {}, nil
		}
		return nil, invalid("Too many namespaces",
			"%d namespaces of %s are in use, and no more can be watched one by one; "+
				"request fewer of them with ns.", maxAsked, i.scope.Resource.GroupResource())
	}
	for _, ns := range namespaces {
		if i.asked[ns] == nil {
			i.asked[ns] = &asked{since: time.Now()}
		}
		i.asked[ns].holders++
	}
	i.mu.Unlock()
	if news > 0 {
		i.kick()
	}
	return func() { i.letGo(namespaces) }, nil
}

// letGo releases the leases that ask acquired. While one feed watches all namespaces, leases without holders are
// deleted at once.
func (i *informer) letGo(namespaces []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.asked) > maxAsked {
		i.kick() // A namespace that had to wait may be watched now.
	}
	for _, ns := range namespaces {
		a := i.asked[ns]
		if a.holders--; a.holders > 0 {
			continue
		}
		if a.idle = time.Now(); i.feeds[""] != nil {
			delete(i.asked, ns)
		}
	}
}

// roomLocked makes room for leases of more namespaces by dropping leases without holders, longest idle first. It keeps
// the leases of the namespaces given as but. It reports whether there is room. If dropping would not free enough, it
// drops none.
func (i *informer) roomLocked(more int, but []string) bool {
	lacking := len(i.asked) + more - maxAsked
	if lacking <= 0 {
		return true
	}
	wanted := make(map[string]bool, len(but))
	for _, ns := range but {
		wanted[ns] = true
	}
	var idle []string
	for ns, a := range i.asked {
		if a.holders == 0 && !wanted[ns] {
			idle = append(idle, ns)
		}
	}
	if len(idle) < lacking {
		return false
	}
	slices.SortFunc(idle, func(a, b string) int { return i.asked[a].idle.Compare(i.asked[b].idle) })
	for _, ns := range idle[:lacking] {
		delete(i.asked, ns)
	}
	return true
}

// lapse drops the leases that have had no holders for the given time.
func (i *informer) lapse(long time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, a := range i.asked {
		if a.holders == 0 && time.Since(a.idle) >= long {
			delete(i.asked, ns)
		}
	}
}

// turns divides the requested namespaces into those that may be watched now, at most maxAsked, and those that must
// wait. There can be more than maxAsked, because requests are not limited while one feed watches all namespaces.
// Namespaces that are watched already come first, then the earliest requests. Namespaces without holders come last.
func (i *informer) turns() (now, later []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now = slices.Collect(maps.Keys(i.asked))
	if len(now) <= maxAsked {
		return now, nil
	}
	rank := func(ns string) int {
		switch {
		case i.asked[ns].holders == 0:
			return 2
		case i.feeds[ns] == nil:
			return 1
		}
		return 0
	}
	slices.SortFunc(now, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), i.asked[a].since.Compare(i.asked[b].since), cmp.Compare(a, b))
	})
	return now[:maxAsked], now[maxAsked:]
}
