package watch

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

const (
	// maxRankings bounds the rankings of one informer that are one viewer's: anybody
	// can think of any number of them.
	maxRankings = 100
	// maxAllRankings bounds those of all viewers: what one informer's take is no more
	// than so many rows for each of its objects, whether there is a memory limit or not.
	maxAllRankings = 1000
	// maxGuestRankings bounds those of whom something is shared with, through all links:
	// they leave orders for others.
	maxGuestRankings = 500
	// rankingLinger is how long a ranking stays after the last who held a window
	// of it.
	rankingLinger = 30 * time.Second
)

// rankings are those of one informer that somebody holds a window of, or did a
// moment ago.
type rankings struct {
	mu   sync.Mutex
	held map[rankingID]*heldRanking
}

// rankingID tells rankings of one informer apart.
type rankingID [sha256.Size]byte

// heldRanking is a ranking, who holds it how often, and whose it is: one of theirs, or,
// where nobody holds it, who was the last.
type heldRanking struct {
	*ranking

	owner     holder
	holders   map[holder]int
	idle      *time.Timer
	idleSince time.Time
}

// ranking returns the ranking of a filter, for a viewer. It is held until release is
// called, once.
func (i *informer) ranking(viewer holder, f *filter, now *present, by sorting) (r *ranking, release func(), err error) {
	filter := f.id()
	id := rankingID(sha256.Sum256(fmt.Appendf(nil, "%x %d %v", filter, now.version, by)))
	if r, release = i.rankings.hold(viewer, id, nil); r != nil {
		return r, release, nil
	}
	if _, fits := i.pool.room(int64(i.Len())*rowWeight, i); !fits {
		return nil, nil, &Problem{Cause: Unavailable, Title: "Too many orders", Detail: "There is no memory left for rows in one more order; choose less, or raise --memory-limit."}
	}
	if r, release = i.rankings.hold(viewer, id, func() *ranking { return newRanking(i, f, now.columns, by) }); r == nil {
		return nil, nil, &Problem{
			Cause: Unavailable, Title: "Too many orders",
			Detail: fmt.Sprintf("The rows of one resource are held in %d orders for you, in %d for all whom something is shared with, or in %d for all, one for each filter and sort; end one, or take the same as others.", maxRankings, maxGuestRankings, maxAllRankings),
		}
	}
	return r, release, nil
}

// hold returns a ranking that is held, or the one that is made; nil where it is
// not to be made, or there are too many.
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

// roomLocked makes room for one more of a viewer's: where they have as many as they
// may, or all guests, or all viewers, that of theirs goes which nobody has held for the
// longest time.
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

// countLocked is how many there are of those that which chooses.
func (s *rankings) countLocked(which func(*heldRanking) bool) (n int) {
	for _, h := range s.held {
		if which(h) {
			n++
		}
	}
	return n
}

// evictLocked drops the ranking that nobody has held for the longest time, of those
// that which chooses, and reports whether there was one.
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

// release ends what hold began. Where its owner holds it no more, it is another's who
// does.
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

// weight is what all of them take, in bytes.
func (s *rankings) weight() (sum int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		sum += h.weight.Load()
	}
	return sum
}
