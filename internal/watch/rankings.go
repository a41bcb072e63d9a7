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

// viewerHash is the hash of Viewer.Key.
type viewerHash [sha256.Size]byte

// heldRanking is a ranking, whose it is, for who asked for it first, and how many
// hold it.
type heldRanking struct {
	*ranking

	owner     viewerHash
	holders   int
	idle      *time.Timer
	idleSince time.Time
}

// ranking returns the ranking of a filter, for a viewer. It is held until release is
// called, once.
func (i *informer) ranking(viewer viewerHash, f *filter, now *present, by sorting) (r *ranking, release func(), err error) {
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
			Detail: fmt.Sprintf("The rows of one resource are held in %d orders for you, one for each filter and sort; end one, or take the same as others.", maxRankings),
		}
	}
	return r, release, nil
}

// hold returns a ranking that is held, or the one that is made; nil where it is
// not to be made, or there are too many.
func (s *rankings) hold(viewer viewerHash, id rankingID, make func() *ranking) (*ranking, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[id]
	if h == nil {
		if make == nil || !s.roomLocked(viewer) {
			return nil, nil
		}
		h = &heldRanking{ranking: make(), owner: viewer}
		if s.held == nil {
			s.held = map[rankingID]*heldRanking{}
		}
		s.held[id] = h
	}
	h.holders++
	if h.idle != nil {
		h.idle.Stop()
		h.idle = nil
	}
	return h.ranking, sync.OnceFunc(func() { s.release(id, h) })
}

// roomLocked makes room for one more of a viewer's: where there is none left, that of
// theirs goes which nobody has held for the longest time.
func (s *rankings) roomLocked(viewer viewerHash) bool {
	var oldest *heldRanking
	var which rankingID
	own := 0
	for id, h := range s.held {
		if h.owner != viewer {
			continue
		}
		own++
		if h.holders == 0 && (oldest == nil || h.idleSince.Before(oldest.idleSince)) {
			which, oldest = id, h
		}
	}
	if own < maxRankings {
		return true
	}
	if oldest == nil {
		return false
	}
	s.removeLocked(which, oldest)
	return true
}

func (s *rankings) release(id rankingID, h *heldRanking) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.holders--
	if h.holders > 0 || s.held[id] != h {
		return
	}
	h.idleSince = time.Now()
	h.idle = time.AfterFunc(rankingLinger, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if h.holders == 0 && s.held[id] == h {
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
