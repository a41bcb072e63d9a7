package web

import (
	"context"
	"sync"

	"glasshouse/internal/watch"
)

// pickerFeed is the list of resources for the resource picker, with the number of objects of each. It is built once
// for all sessions whose viewers have the same Viewer.Key.
type pickerFeed struct {
	picker sharedDocs
	counts counts

	refs     int
	stop     context.CancelFunc
	counting sync.WaitGroup
}

// pickerFeeds contains the picker feed of each viewer that has open sessions. The key is Viewer.Key.
type pickerFeeds struct {
	mu    sync.Mutex
	byKey map[string]*pickerFeed
}

// joinPickerFeed returns the picker feed of a viewer. The feed updates its counts until leave was called for each
// session that has joined the feed. The caller must call leave exactly once.
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
