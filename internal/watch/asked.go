package watch

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// maxAsked bounds the namespaces of one resource that readers name and that are
// watched one by one, as anybody can think of any number of them.
const maxAsked = 500

// asked is a namespace that readers named.
type asked struct {
	holders int
	since   time.Time
	idle    time.Time // Since when nobody holds it.
}

// ask has the namespaces watched, where not all are, until release is called,
// once, and for as long after that as the pool keeps what nobody looks at. Those
// that nobody named are known, and are watched anyway where it is forbidden to watch
// all: there they need no room.
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
		return nil, invalid("Too many namespaces", "%d namespaces of %s are asked for now, and no more are watched one by one; ask for fewer of them with ns.", maxAsked, i.scope.Resource.GroupResource())
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

// letGo ends what ask began. Where all namespaces are watched, there is nothing
// to keep.
func (i *informer) letGo(namespaces []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.asked) > maxAsked {
		i.kick() // It is another's turn.
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

// roomLocked makes room for more namespaces at the cost of those that nobody
// holds, longest idle first, and reports whether there is. Where all of those would
// not do, all of them stay.
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

// lapse forgets what nobody has held for long.
func (i *informer) lapse(long time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, a := range i.asked {
		if a.holders == 0 && time.Since(a.idle) >= long {
			delete(i.asked, ns)
		}
	}
}

// turns are the namespaces that were asked for and have their turn, and those that
// have not, as too many are asked for: any number could be while all were watched.
// What is watched comes first, then what was asked for first; what nobody holds
// any more makes room.
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
