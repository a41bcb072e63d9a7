package web

import (
	"context"
	"sync"

	"glasshouse/internal/watch"
)

// audience is data that is built once for all sessions whose viewers have the same Viewer.Key: the resource picker and
// its counts.
type audience struct {
	picker documents
	counts counts

	holders  int
	stop     context.CancelFunc
	counting sync.WaitGroup
}

// audiences contains the audience of each viewer that has open sessions, by Viewer.Key.
type audiences struct {
	mu sync.Mutex
	of map[string]*audience
}

// join returns the audience of a viewer. The audience updates its counts until every session that has joined it has
// left. The caller must call leave once.
func (s *showing) join(viewer watch.Viewer) (a *audience, leave func()) {
	key := viewer.Key()
	s.audiences.mu.Lock()
	defer s.audiences.mu.Unlock()
	a = s.audiences.of[key]
	if a == nil {
		ctx, cancel := context.WithCancel(s.ended)
		a = &audience{stop: cancel}
		a.counting.Go(func() { a.counts.run(ctx, s.Cluster.For(viewer).Counts) })
		if s.audiences.of == nil {
			s.audiences.of = make(map[string]*audience)
		}
		s.audiences.of[key] = a
	}
	a.holders++
	return a, func() { s.leaveAudience(key, a) }
}

func (s *showing) leaveAudience(key string, a *audience) {
	s.audiences.mu.Lock()
	a.holders--
	last := a.holders == 0
	if last {
		delete(s.audiences.of, key)
	}
	s.audiences.mu.Unlock()
	if last {
		a.stop()
		a.counting.Wait()
	}
}
