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
	// maxShares is the maximum number of shares, and maxOfCreator that of one creator.
	maxShares, maxOfCreator = 1000, 100
	// saveEvery is the maximum time after the use of a share until the time of that use is saved.
	saveEvery = time.Minute
)

// Options configure a Store.
type Options struct {
	Dir string // The directory of persistent shares; empty keeps them only in memory.
	// Known means that all creators are identified. Open then drops shares that were created without a login.
	Known bool
	Log   *slog.Logger
}

// A Store keeps shares until they end. Run ends the expired ones.
type Store struct {
	dir   string
	audit *audit
	log   *slog.Logger
	turn  chan struct{} // A semaphore with one slot, for the write of the file.
	gone  []Share       // Shares that Open has dropped.

	mu     sync.Mutex
	byHash map[hash]*live
	byID   map[string]*live
	dirty  bool // Whether there are changes that the file does not contain.
}

// live is a Share that has not ended.
type live struct {
	Share

	hash   hash
	ended  chan struct{} // Closed when the share ends.
	guests int           // Number of guest sockets that are open.
	opens  *quota        // Quota for audit lines about opening the share.
}

// Open creates a Store with the shares in its file. It returns an error if it cannot read the file, because shares must
// not be lost silently.
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

// Persistent reports whether shares survive a restart of the program.
func (s *Store) Persistent() bool { return s.dir != "" }

// Close closes the audit log. It must be called after Run has returned.
func (s *Store) Close() error { return s.audit.close() }

// Create stores a share. It returns the share with the token of its link. The Store does not keep the token, and cannot
// return it again.
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
			Cause: watch.Invalid, Title: "Too many links",
			Detail: "You have 100 links, which is the maximum; revoke one first.",
		}
	case full:
		return Share{}, "", &watch.Problem{
			Cause: watch.Unavailable, Title: "Too many links",
			Detail: "There are 1000 links, which is the maximum of all users together; revoke one first.",
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

// Exchange returns the share and the guest cookie for a link's token. ok is false if the share does not exist or has
// ended.
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

// find returns the share with a guest cookie, and records that it was used. It returns nil if no share has this cookie,
// or the share has expired.
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

// Guest is a viewer with a guest cookie.
type Guest struct {
	Share Share
	Ended <-chan struct{} // Closed when the share ends.

	live  *live
	store *Store
}

// Guest returns the guest with a cookie. ok is false if the share has ended.
func (s *Store) Guest(cookie string) (g Guest, ok bool) {
	l, shared := s.find(cookie)
	if l == nil {
		return Guest{}, false
	}
	return Guest{Share: shared, Ended: l.ended, live: l, store: s}, true
}

// Enter counts an open socket of the guest. The caller must call leave once, when the socket has closed.
func (g Guest) Enter() (leave func()) {
	count := func(by int) {
		g.store.mu.Lock()
		defer g.store.mu.Unlock()
		g.live.guests += by
	}
	count(1)
	return func() { count(-1) }
}

// Listed is a share with the number of its open guest sockets.
type Listed struct {
	Share

	Viewers int `json:"viewers"`
}

// List returns the shares of a user, newest first. If all is set, it returns the shares of all users.
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

// Revoke ends a share of a user, or of any user if all is set. ok is false if there is no such share. If the change
// cannot be saved, Revoke ends the share and returns an error.
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

// end ends a share. It reports false if the share had already ended.
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

// Count returns the number of shares, and the number of open guest sockets.
func (s *Store) Count() (shares, guests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.byID {
		guests += l.guests
	}
	return len(s.byID), guests
}

// Run ends expired shares and saves changes until ctx ends.
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

// tidy saves the changes that the file does not contain, if there are any.
func (s *Store) tidy(ctx context.Context) {
	s.mu.Lock()
	dirty := s.dirty
	s.mu.Unlock()
	if !dirty {
		return
	}
	if err := s.save(ctx); err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "the links were not saved", "error", err)
	}
}
