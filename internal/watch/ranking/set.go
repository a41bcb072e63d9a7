package ranking

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// maxRankings limits the rankings of one informer for one viewer, who could request any number of sort orders.
	maxRankings = 100
	// maxAllRankings limits the rankings of one informer for all viewers, and thus their memory.
	maxAllRankings = 1000
	// maxGuestRankings limits the rankings of one informer for all guests. The rest of maxAllRankings is for other
	// viewers.
	maxGuestRankings = 500
	rankingLinger    = 30 * time.Second
)

// Set contains the rankings of one informer that windows use, or have used within the last rankingLinger.
type Set struct {
	mu      sync.Mutex
	entries map[rankingID]*rankingEntry
}

// rankingID identifies a ranking of one informer. It is a hash of filter, version of the columns, and sort order.
type rankingID [sha256.Size]byte

// rankingEntry is a ranking with the number of its uses by each viewer. The ranking counts towards the quota of the
// viewer in the field owner.
type rankingEntry struct {
	*Ranking

	owner     informer.Owner
	refs      map[informer.Owner]int
	idleTimer *time.Timer
	idleSince time.Time
}

// Open returns or creates the ranking for a filter and a sort order. The caller must call release.
func (s *Set) Open(
	i *informer.Informer, viewer informer.Owner, f *query.Filter, state *informer.State, order Sort,
) (r *Ranking, release func(), err error) {
	filter := f.ID()
	id := rankingID(sha256.Sum256(fmt.Appendf(nil, "%x %d %v", filter, state.Version, order)))
	if r, release = s.acquire(viewer, id, nil); r != nil {
		return r, release, nil
	}
	if _, fits := i.Account.MakeRoom(int64(i.Len()) * rowWeight); !fits {
		return nil, nil, status.Unavailablef("Too many sort orders",
			"There is not enough memory to sort the rows in another order; filter the rows, or increase --memory-limit.")
	}
	if r, release = s.acquire(viewer, id, func() *Ranking {
		return New(i, f, state.Columns, order)
	}); r == nil {
		return nil, nil, status.Unavailablef("Too many sort orders", "Each filter and sort order needs its own "+
			"sorted list, and the maximum for one resource is %d lists for you, %d for the viewers of all links, and %d in "+
			"total; close a list, or use the filter and sort order of an open list.",
			maxRankings, maxGuestRankings, maxAllRankings)
	}
	return r, release, nil
}

// acquire returns the ranking with the id, and a function that releases it. If this ranking does not exist, acquire
// calls create, or returns nil if create is nil or a limit is reached.
func (s *Set) acquire(viewer informer.Owner, id rankingID, create func() *Ranking) (*Ranking, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.entries[id]
	if h == nil {
		if create == nil || !s.makeRoomLocked(viewer) {
			return nil, nil
		}
		h = &rankingEntry{Ranking: create(), refs: map[informer.Owner]int{}}
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
	return h.Ranking, sync.OnceFunc(func() { s.release(viewer, id, h) })
}

// makeRoomLocked reports whether the viewer can get one more ranking. If a limit is reached, it first removes an unused
// ranking.
func (s *Set) makeRoomLocked(viewer informer.Owner) bool {
	ofViewer := func(h *rankingEntry) bool { return h.owner == viewer }
	ofGuest := func(h *rankingEntry) bool { return h.owner.IsGuest }
	switch {
	case s.countLocked(ofViewer) >= maxRankings:
		return s.evictLocked(ofViewer)
	case viewer.IsGuest && s.countLocked(ofGuest) >= maxGuestRankings:
		return s.evictLocked(ofGuest)
	case len(s.entries) >= maxAllRankings:
		return s.evictLocked(func(*rankingEntry) bool { return true })
	}
	return true
}

func (s *Set) countLocked(isCounted func(*rankingEntry) bool) (n int) {
	for _, h := range s.entries {
		if isCounted(h) {
			n++
		}
	}
	return n
}

// evictLocked removes one ranking for which isCandidate returns true: the one that has been unused for the longest
// time. It returns false if all are in use.
func (s *Set) evictLocked(isCandidate func(*rankingEntry) bool) bool {
	var oldest *rankingEntry
	var id rankingID
	for other, h := range s.entries {
		if len(h.refs) == 0 && isCandidate(h) && (oldest == nil || h.idleSince.Before(oldest.idleSince)) {
			id, oldest = other, h
		}
	}
	if oldest == nil {
		return false
	}
	s.removeLocked(id, oldest)
	return true
}

// release undoes one call of acquire. The ranking then counts toward the quota of a viewer who still uses it, if any.
func (s *Set) release(viewer informer.Owner, id rankingID, h *rankingEntry) {
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

// DropUnused drops all rankings that no window uses, even if rankingLinger has not passed yet.
func (s *Set) DropUnused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, h := range s.entries {
		if len(h.refs) == 0 {
			s.removeLocked(id, h)
		}
	}
}

func (s *Set) removeLocked(id rankingID, h *rankingEntry) {
	if h.idleTimer != nil {
		h.idleTimer.Stop()
	}
	delete(s.entries, id)
}

// Weight returns the memory of all rankings (sorted lists of rows) in bytes.
func (s *Set) Weight() (sum int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.entries {
		sum += h.weight.Load()
	}
	return sum
}
