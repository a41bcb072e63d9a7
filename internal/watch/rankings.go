package watch

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"glasshouse/internal/watch/status"
)

const (
	// maxRankings is the maximum number of rankings of one informer that belong to one viewer. A viewer could otherwise
	// request any number, by different filters and sort orders.
	maxRankings = 100
	// maxAllRankings is the maximum number of rankings of one informer, for all viewers. It bounds their rows to this
	// number for each object, even without a memory limit.
	maxAllRankings = 1000
	// maxGuestRankings is the maximum number of rankings of one informer for all guests, through all links. The rest of
	// maxAllRankings is for other viewers.
	maxGuestRankings = 500
	// rankingLinger is how long a ranking stays after its last window is closed.
	rankingLinger = 30 * time.Second
)

// rankings contains the rankings of one informer that a window uses, or used within the last rankingLinger.
type rankings struct {
	mu      sync.Mutex
	entries map[rankingID]*rankingEntry
}

// rankingID identifies a ranking among those of one informer: a hash of its filter, columns and sort order.
type rankingID [sha256.Size]byte

// rankingEntry is a ranking with the number of its users for each viewer, and its owner. The owner is one of the
// viewers that use it. If no viewer uses it, the owner is the one that used it last.
type rankingEntry struct {
	*ranking

	owner     owner
	refs      map[owner]int
	idleTimer *time.Timer
	idleSince time.Time
}

// acquireRanking returns the ranking for a filter and a sort order. viewer is the viewer that will use it. The caller
// must call release once.
func (i *informer) acquireRanking(
	viewer owner, f *filter, now *informerState, by sorting,
) (r *ranking, release func(), err error) {
	filter := f.id()
	id := rankingID(sha256.Sum256(fmt.Appendf(nil, "%x %d %v", filter, now.version, by)))
	if r, release = i.rankings.acquire(viewer, id, nil); r != nil {
		return r, release, nil
	}
	if _, fits := i.pool.makeRoom(int64(i.Len())*rowWeight, i); !fits {
		return nil, nil, &status.Problem{
			Cause: status.Unavailable, Title: "Too many sort orders",
			Detail: "There is no memory for the rows in another order; filter the rows, or increase --memory-limit.",
		}
	}
	if r, release = i.rankings.acquire(viewer, id, func() *ranking {
		return newRanking(i, f, now.columns, by)
	}); r == nil {
		return nil, nil, &status.Problem{
			Cause: status.Unavailable, Title: "Too many sort orders",
			Detail: fmt.Sprintf("The rows of one resource are kept in %d orders for you, "+
				"in %d for the viewers of all links, or in %d in total, one for each filter and sort; "+
				"close one, or use the filter and sort of others.", maxRankings, maxGuestRankings, maxAllRankings),
		}
	}
	return r, release, nil
}

// acquire returns the ranking with the id, and a function to release it. If none exists, it creates one by create. It
// returns nil if create is nil, or if there are too many rankings.
func (s *rankings) acquire(viewer owner, id rankingID, create func() *ranking) (*ranking, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.entries[id]
	if h == nil {
		if create == nil || !s.makeRoomLocked(viewer) {
			return nil, nil
		}
		h = &rankingEntry{ranking: create(), refs: map[owner]int{}}
		if s.entries == nil {
			s.entries = map[rankingID]*rankingEntry{}
		}
		s.entries[id] = h
	}
	if len(h.refs) == 0 {
		h.owner = viewer
	}
	h.refs[viewer]++
	if h.idleTimer != nil {
		h.idleTimer.Stop()
		h.idleTimer = nil
	}
	return h.ranking, sync.OnceFunc(func() { s.release(viewer, id, h) })
}

// makeRoomLocked reports whether one more ranking may be created for viewer. If the viewer, all guests or all viewers
// have reached their maximum, it first evicts one of their rankings: the one that has been unused for the longest time.
// It returns false if all of these are in use.
func (s *rankings) makeRoomLocked(viewer owner) bool {
	ofViewer := func(h *rankingEntry) bool { return h.owner == viewer }
	ofGuest := func(h *rankingEntry) bool { return h.owner.isGuest }
	switch {
	case s.countLocked(ofViewer) >= maxRankings:
		return s.evictLocked(ofViewer)
	case viewer.isGuest && s.countLocked(ofGuest) >= maxGuestRankings:
		return s.evictLocked(ofGuest)
	case len(s.entries) >= maxAllRankings:
		return s.evictLocked(func(*rankingEntry) bool { return true })
	}
	return true
}

// countLocked returns the number of rankings for which matches() is true.
func (s *rankings) countLocked(matches func(*rankingEntry) bool) (n int) {
	for _, h := range s.entries {
		if matches(h) {
			n++
		}
	}
	return n
}

// evictLocked drops one ranking for which matches() is true: the one that has been unused for the longest time. It
// returns false if all of them are in use.
func (s *rankings) evictLocked(matches func(*rankingEntry) bool) bool {
	var oldest *rankingEntry
	var id rankingID
	for other, h := range s.entries {
		if len(h.refs) == 0 && matches(h) && (oldest == nil || h.idleSince.Before(oldest.idleSince)) {
			id, oldest = other, h
		}
	}
	if oldest == nil {
		return false
	}
	s.removeLocked(id, oldest)
	return true
}

// release undoes one call of acquire. If the owner does not use the ranking any more, another viewer that uses it
// becomes the owner.
func (s *rankings) release(viewer owner, id rankingID, h *rankingEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.refs[viewer]--; h.refs[viewer] == 0 {
		delete(h.refs, viewer)
	}
	if h.refs[h.owner] == 0 {
		for other := range h.refs {
			h.owner = other
			break
		}
	}
	if len(h.refs) > 0 || s.entries[id] != h {
		return
	}
	h.idleSince = time.Now()
	h.idleTimer = time.AfterFunc(rankingLinger, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(h.refs) == 0 && s.entries[id] == h {
			s.removeLocked(id, h)
		}
	})
}

func (s *rankings) removeLocked(id rankingID, h *rankingEntry) {
	if h.idleTimer != nil {
		h.idleTimer.Stop()
	}
	delete(s.entries, id)
}

// weight returns the total size of the rankings, in bytes.
func (s *rankings) weight() (sum int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.entries {
		sum += h.weight.Load()
	}
	return sum
}
