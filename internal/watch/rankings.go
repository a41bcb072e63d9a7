package watch

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
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
	mu   sync.Mutex
	held map[rankingID]*heldRanking
}

// rankingID identifies a ranking among those of one informer: a hash of its filter, columns and sort order.
type rankingID [sha256.Size]byte

// heldRanking is a ranking with the number of its users for each viewer, and its owner. The owner is one of the viewers
// that use it. If no viewer uses it, the owner is the one that used it last.
type heldRanking struct {
	*ranking

	owner     holder
	holders   map[holder]int
	idle      *time.Timer
	idleSince time.Time
}

// ranking returns the ranking for a filter and a sort order. viewer is the viewer that will use it. The caller must
// call release once.
func (i *informer) ranking(viewer holder, f *filter, now *present, by sorting) (r *ranking, release func(), err error) {
	filter := f.id()
	id := rankingID(sha256.Sum256(fmt.Appendf(nil, "%x %d %v", filter, now.version, by)))
	if r, release = i.rankings.hold(viewer, id, nil); r != nil {
		return r, release, nil
	}
	if _, fits := i.pool.room(int64(i.Len())*rowWeight, i); !fits {
		return nil, nil, &Problem{
			Cause: Unavailable, Title: "Too many sort orders",
			Detail: "There is no memory for the rows in another order; filter the rows, or increase --memory-limit.",
		}
	}
	if r, release = i.rankings.hold(viewer, id, func() *ranking {
		return newRanking(i, f, now.columns, by)
	}); r == nil {
		return nil, nil, &Problem{
			Cause: Unavailable, Title: "Too many sort orders",
			Detail: fmt.Sprintf("The rows of one resource are kept in %d orders for you, "+
				"in %d for the viewers of all links, or in %d in total, one for each filter and sort; "+
				"close one, or use the filter and sort of others.", maxRankings, maxGuestRankings, maxAllRankings),
		}
	}
	return r, release, nil
}

// hold returns the ranking with the id, and a function to release it. If none exists, it creates one by make. It
// returns nil if make is nil, or if there are too many rankings.
func (s *rankings) hold(viewer holder, id rankingID, make func() *ranking) (*ranking, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[id]
	if h == nil {
		if make == nil || !s.roomLocked(viewer) {
			return nil, nil
		}
		h = &heldRanking{ranking: make(), holders: map[holder]int{}}
		if s.held == nil {
			s.held = map[rankingID]*heldRanking{}
		}
		s.held[id] = h
	}
	if len(h.holders) == 0 {
		h.owner = viewer
	}
	h.holders[viewer]++
	if h.idle != nil {
		h.idle.Stop()
		h.idle = nil
	}
	return h.ranking, sync.OnceFunc(func() { s.release(viewer, id, h) })
}

// roomLocked reports whether one more ranking may be created for viewer. If the viewer, all guests or all viewers have
// reached their maximum, it first evicts one of their rankings: the one that has been unused for the longest time. It
// returns false if all of these are in use.
func (s *rankings) roomLocked(viewer holder) bool {
	theirs := func(h *heldRanking) bool { return h.owner == viewer }
	guests := func(h *heldRanking) bool { return h.owner.guest }
	switch {
	case s.countLocked(theirs) >= maxRankings:
		return s.evictLocked(theirs)
	case viewer.guest && s.countLocked(guests) >= maxGuestRankings:
		return s.evictLocked(guests)
	case len(s.held) >= maxAllRankings:
		return s.evictLocked(func(*heldRanking) bool { return true })
	}
	return true
}

// countLocked returns the number of rankings for which which() is true.
func (s *rankings) countLocked(which func(*heldRanking) bool) (n int) {
	for _, h := range s.held {
		if which(h) {
			n++
		}
	}
	return n
}

// evictLocked drops one ranking for which which() is true: the one that has been unused for the longest time. It
// returns false if all of them are in use.
func (s *rankings) evictLocked(which func(*heldRanking) bool) bool {
	var oldest *heldRanking
	var id rankingID
	for other, h := range s.held {
		if len(h.holders) == 0 && which(h) && (oldest == nil || h.idleSince.Before(oldest.idleSince)) {
			id, oldest = other, h
		}
	}
	if oldest == nil {
		return false
	}
	s.removeLocked(id, oldest)
	return true
}

// release undoes one call of hold. If the owner does not use the ranking any more, another viewer that uses it becomes
// the owner.
func (s *rankings) release(viewer holder, id rankingID, h *heldRanking) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.holders[viewer]--; h.holders[viewer] == 0 {
		delete(h.holders, viewer)
	}
	if h.holders[h.owner] == 0 {
		for other := range h.holders {
			h.owner = other
			break
		}
	}
	if len(h.holders) > 0 || s.held[id] != h {
		return
	}
	h.idleSince = time.Now()
	h.idle = time.AfterFunc(rankingLinger, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(h.holders) == 0 && s.held[id] == h {
			s.removeLocked(id, h)
		}
	})
}

func (s *rankings) removeLocked(id rankingID, h *heldRanking) {
	if h.idle != nil {
		h.idle.Stop()
	}
	delete(s.held, id)
}

// weight returns the total size of the rankings, in bytes.
func (s *rankings) weight() (sum int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		sum += h.weight.Load()
	}
	return sum
}
