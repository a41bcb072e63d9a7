package share

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"glasshouse/internal/watch"
)

const (
	// maxShares are those of all creators, maxOfCreator those of one.
	maxShares, maxOfCreator = 1000, 100
	// saveEvery is how long it may be known here alone when a share was used last.
	saveEvery = time.Minute
)

// Options are what a Store is made of.
type Options struct {
	Dir string // Where shares outlive the program; empty for nowhere.
	// Known says that all who share are known: what was shared before by nobody in
	// particular ends.
	Known bool
	Log   *slog.Logger
}

// A Store keeps shares until they end. Run ends those that expire.
type Store struct {
	dir   string
	audit *audit
	log   *slog.Logger
	turn  chan struct{} // Has room for one, who writes the file.
	gone  []Share       // That Open has dropped.

	mu     sync.Mutex
	byHash map[hash]*live
	byID   map[string]*live
	dirty  bool // The file does not say all.
}

// live is a Share that has not ended.
type live struct {
	Share

	hash   hash
	ended  chan struct{} // Closed when it does.
	guests int           // Whose sockets are open.
	opens  *quota        // Of lines that say that it was opened.
}

// Open makes a Store of what its file holds. A file that cannot be read is an
// error: who trusts in what is shared is not to lose it in silence.
func Open(options Options) (*Store, error) {
	s := &Store{
		dir: options.Dir, log: options.Log, turn: make(chan struct{}, 1),
		byHash: make(map[hash]*live), byID: make(map[string]*live),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.dir != "" {
		if err = s.load(options.Known); err != nil {
			return nil, err
		}
	}
	if s.audit, err = newAudit(s.dir, s.log); err != nil {
		return nil, err
	}
	return s, nil
}

// Persistent reports whether shares outlive the program.
func (s *Store) Persistent() bool { return s.dir != "" }

// Close closes the audit log, when Run has ended.
func (s *Store) Close() error { return s.audit.close() }

// Create keeps a share of somebody's, and returns it with the token of its link,
// which nobody can tell again.
func (s *Store) Create(ctx context.Context, given Share, who Who) (Share, string, error) {
	token := newToken()
	l := &live{Share: given, hash: hashOf(cookieOf(token)), ended: make(chan struct{}), opens: newQuota()}
	l.ID = newID()
	s.mu.Lock()
	own := 0
	for _, other := range s.byID {
		if other.by(given.Creator) {
			own++
		}
	}
	full := len(s.byID) >= maxShares
	if own < maxOfCreator && !full {
		s.byID[l.ID], s.byHash[l.hash] = l, l
	}
	s.mu.Unlock()
	switch {
	case own >= maxOfCreator:
		return Share{}, "", &watch.Problem{
			Cause: watch.Invalid, Title: "Too many shares",
			Detail: "You share as much as one may, 100 at a time; take one back first.",
		}
	case full:
		return Share{}, "", &watch.Problem{
			Cause: watch.Unavailable, Title: "Too many shares",
			Detail: "As much is shared here as may be, 1000 at a time; somebody has to take one back first.",
		}
	}
	if err := s.save(ctx); err != nil {
		s.end(l)
		return Share{}, "", unsaved(err)
	}
	given.ID = l.ID
	s.audit.created(ctx, &given, who)
	return given, token, nil
}

// Exchange returns what a browser is to hold of a link's token; it is not ok where
// there is no such share any more.
func (s *Store) Exchange(ctx context.Context, token string, who Who) (shared Share, cookie string, ok bool) {
	cookie = cookieOf(token)
	l, shared := s.find(cookie)
	if l == nil {
		s.audit.refused(ctx, who)
		return Share{}, "", false
	}
	s.audit.opened(ctx, l.opens, &shared, who)
	return shared, cookie, true
}

// find is the share of a cookie, as it is now that it is used; nil where it has
// ended.
func (s *Store) find(cookie string) (*live, Share) {
	key, now := hashOf(cookie), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.byHash[key]
	if l == nil || !now.Before(l.Expires) {
		return nil, Share{}
	}
	l.LastUsed, s.dirty = now.UTC().Truncate(time.Second), true
	return l, l.Share
}

// Guest is somebody with a cookie.
type Guest struct {
	Share Share
	Ended <-chan struct{} // Closed when the share ends.

	live  *live
	store *Store
}

// Guest returns who has a cookie; it is not ok where the share has ended.
func (s *Store) Guest(cookie string) (g Guest, ok bool) {
	l, shared := s.find(cookie)
	if l == nil {
		return Guest{}, false
	}
	return Guest{Share: shared, Ended: l.ended, live: l, store: s}, true
}

// Enter counts a socket of the guest's in, until leave is called, once.
func (g Guest) Enter() (leave func()) {
	count := func(by int) {
		g.store.mu.Lock()
		defer g.store.mu.Unlock()
		g.live.guests += by
	}
	count(1)
	return func() { count(-1) }
}

// Listed is a share with how many look through it now.
type Listed struct {
	Share

	Viewers int `json:"viewers"`
}

// List returns the shares of a user, the newest first: all of them where user is
// one who may see all.
func (s *Store) List(user *watch.User, all bool) []Listed {
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := make([]Listed, 0, len(s.byID))
	for _, l := range s.byID {
		if (all || l.by(user)) && time.Now().Before(l.Expires) {
			listed = append(listed, Listed{l.Share, l.guests})
		}
	}
	slices.SortFunc(listed, func(a, b Listed) int { return b.Created.Compare(a.Created) })
	return listed
}

// Revoke ends a share of a user, or anybody's where they may end all; it is not ok
// where there is none such.
func (s *Store) Revoke(ctx context.Context, id string, user *watch.User, all bool, who Who) (ok bool, err error) {
	s.mu.Lock()
	l := s.byID[id]
	s.mu.Unlock()
	if l == nil || !all && !l.by(user) || !s.end(l) {
		return false, nil
	}
	s.audit.revoked(ctx, &l.Share, who)
	if err := s.save(ctx); err != nil {
		return true, unsaved(err)
	}
	return true, nil
}

// end ends a share, and reports whether it had not ended.
func (s *Store) end(l *live) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[l.ID] != l {
		return false
	}
	delete(s.byID, l.ID)
	delete(s.byHash, l.hash)
	s.dirty = true
	close(l.ended)
	return true
}

// Count is how many shares there are, and how many sockets of guests.
func (s *Store) Count() (shares, guests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.byID {
		guests += l.guests
	}
	return len(s.byID), guests
}

// Run ends what expires, and writes down what was used, until ctx ends.
func (s *Store) Run(ctx context.Context) {
	for i := range s.gone {
		s.audit.dropped(ctx, &s.gone[i])
	}
	saved := time.Now()
	for range watch.Ticks(ctx, time.Second) {
		for _, l := range s.expired() {
			if s.end(l) {
				s.audit.expired(ctx, &l.Share)
				saved = time.Time{}
			}
		}
		if time.Since(saved) >= saveEvery {
			s.tidy(ctx)
			saved = time.Now()
		}
	}
	s.tidy(context.WithoutCancel(ctx))
}

func (s *Store) expired() (all []*live) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.byID {
		if !time.Now().Before(l.Expires) {
			all = append(all, l)
		}
	}
	return all
}

// tidy writes down what has changed.
func (s *Store) tidy(ctx context.Context) {
	s.mu.Lock()
	dirty := s.dirty
	s.mu.Unlock()
	if !dirty {
		return
	}
	if err := s.save(ctx); err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "shares were not saved", "error", err)
	}
}
