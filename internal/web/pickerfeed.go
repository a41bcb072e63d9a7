package web

import (
	"context"
	"sync"

	"glasshouse/internal/watch"
)

// pickerFeed builds the list of resources for the resource picker, with the number of objects of each resource. All
// sessions whose viewers have the same Viewer.Key share one pickerFeed.
type pickerFeed struct {
	picker sharedDocs
	counts counts

	refs     int
	stop     context.CancelFunc
	counting sync.WaitGroup
}

// pickerFeeds contains one picker feed for each Viewer.Key with open sessions.
type pickerFeeds struct {
	mu    sync.Mutex
	byKey map[string]*pickerFeed
}

// joinPickerFeed returns the picker feed of a viewer, and starts the feed if needed. The caller must call leave
// exactly once. The feed stops when all sessions that have joined it have called leave.
func (s *activeCluster) joinPickerFeed(viewer watch.Viewer) (a *pickerFeed, leave func()) {
	key := viewer.Key()
	s.pickerFeeds.mu.Lock()
	defer s.pickerFeeds.mu.Unlock()
	a = s.pickerFeeds.byKey[key]
	if a == nil {
		ctx, cancel := context.WithCancel(s.ctx)
		a = &pickerFeed{stop: cancel}
		a.counting.Go(func() { a.counts.run(ctx, s.Cluster.For(viewer).Counts) })
		if s.pickerFeeds.byKey == nil {
			s.pickerFeeds.byKey = make(map[string]*pickerFeed)
		}
		s.pickerFeeds.byKey[key] = a
	}
	a.refs++
	return a, func() { s.leavePickerFeed(key, a) }
}

func (s *activeCluster) leavePickerFeed(key string, a *pickerFeed) {
	s.pickerFeeds.mu.Lock()
	a.refs--
	last := a.refs == 0
	if last {
		delete(s.pickerFeeds.byKey, key)
	}
	s.pickerFeeds.mu.Unlock()
	if last {
		a.stop()
		a.counting.Wait()
	}
}
