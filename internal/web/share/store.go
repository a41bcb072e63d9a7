package share

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	maxShares, maxCreatorShares = 1000, 100
	saveInterval                = time.Minute
)

// Options configures a Store.
type Options struct {
	Dir string // Folder for the share links; if empty, they are kept only in memory.
	// DropAnonymous makes Open drop shares that were created without a login. Set it if the program identifies users.
	DropAnonymous bool
	Log           *slog.Logger
}

// A Store contains all share links that have not ended. Run ends those that expire.
type Store struct {
	dir       string
	audit     *audit
	log       *slog.Logger
	writeSlot chan struct{} // Allows one goroutine at a time to write the file with the shares.
	dropped   []Share       // Shares that Open has dropped, until Run logs them.

	mu     sync.Mutex
	byHash map[hash]*activeShare
	byID   map[string]*activeShare
	dirty  bool
}

type activeShare struct {
	Share

	hash      hash
	ended     chan struct{}
	guests    int
	openLimit *lineLimit
}

// Open creates a Store from the file with the shares. An unreadable file is an error, because shares must not be lost
// silently.
func Open(options Options) (*Store, error) {
	s := &Store{
		dir: options.Dir, log: options.Log, writeSlot: make(chan struct{}, 1),
		byHash: make(map[hash]*activeShare), byID: make(map[string]*activeShare),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.dir != "" {
		if err = s.load(options.DropAnonymous); err != nil {
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

// Close closes the audit log. Call it after Run has returned.
func (s *Store) Close() error { return s.audit.close() }

// Create stores a share, and returns it with the token of its link. The Store does not keep the token.
func (s *Store) Create(ctx context.Context, newShare Share, actor Actor) (Share, string, error) {
	token := newToken()
	l := &activeShare{
		Share:     newShare,
		hash:      hashOf(cookieOf(token)),
		ended:     make(chan struct{}),
		openLimit: newLineLimit(),
	}
	l.ID = newID()
	s.mu.Lock()
	owned := 0
	for _, other := range s.byID {
		if other.isCreatedBy(newShare.Creator) {
			owned++
		}
	}
	full := len(s.byID) >= maxShares
	if owned < maxCreatorShares && !full {
		s.byID[l.ID], s.byHash[l.hash] = l, l
	}
	s.mu.Unlock()
	switch {
	case owned >= maxCreatorShares:
		return Share{}, "", status.Invalidf("Too many links",
			"You have 100 links, which is the maximum; revoke one first.")
	case full:
		return Share{}, "", status.Unavailablef("Too many links",
			"There are 1000 links, which is the maximum of all users together; revoke one first.")
	}
	if err := s.save(ctx); err != nil {
		s.end(l)
		return Share{}, "", notSaved("The link was not created.", err)
	}
	newShare.ID = l.ID
	s.audit.created(ctx, &newShare, actor)
	return newShare, token, nil
}

// Exchange returns the share and the guest cookie for a token. For a missing or ended share, ok is false.
func (s *Store) Exchange(ctx context.Context, token string, actor Actor) (shared Share, cookie string, ok bool) {
	cookie = cookieOf(token)
	l, shared := s.find(cookie)
	if l == nil {
		s.audit.refused(ctx, actor)
		return Share{}, "", false
	}
	s.audit.opened(ctx, l.openLimit, &shared, actor)
	return shared, cookie, true
}

// find returns the active share for a guest cookie (nil if there is none), and a copy of its field Share. It also sets
// LastUsed.
func (s *Store) find(cookie string) (*activeShare, Share) {
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

// Guest is a client that uses a share link, identified by its cookie.
type Guest struct {
	Share Share
	Ended <-chan struct{} // Closed when the share ends.

	active *activeShare
	store  *Store
}

// Guest returns the guest with a cookie. ok is false if the share does not exist or has ended.
func (s *Store) Guest(cookie string) (g Guest, ok bool) {
	l, shared := s.find(cookie)
	if l == nil {
		return Guest{}, false
	}
	return Guest{Share: shared, Ended: l.ended, active: l, store: s}, true
}

// Enter counts an open WebSocket of the guest. Call leave once, after the WebSocket has closed.
func (g Guest) Enter() (leave func()) {
	count := func(by int) {
		g.store.mu.Lock()
		defer g.store.mu.Unlock()
		g.active.guests += by
	}
	count(1)
	return func() { count(-1) }
}

// Listed is a share with the number of open WebSockets of its guests.
type Listed struct {
	Share

	Viewers int `json:"viewers"`
}

// List returns the shares of a user, newest first. If all is true, it returns the shares of all users.
func (s *Store) List(user *authz.User, all bool) []Listed {
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := make([]Listed, 0, len(s.byID))
	for _, l := range s.byID {
		if (all || l.isCreatedBy(user)) && time.Now().Before(l.Expires) {
			listed = append(listed, Listed{l.Share, l.guests})
		}
	}
	slices.SortFunc(listed, func(a, b Listed) int { return b.Created.Compare(a.Created) })
	return listed
}

// Revoke ends the share with this ID, if the user has created it, or if all is true. If there is no such share, ok is
// false. If err is not nil, the share has ended, but a restart of the program would restore it.
func (s *Store) Revoke(ctx context.Context, id string, user *authz.User, all bool, actor Actor) (ok bool, err error) {
	s.mu.Lock()
	l := s.byID[id]
	s.mu.Unlock()
	if l == nil || !all && !l.isCreatedBy(user) || !s.end(l) {
		return false, nil
	}
	s.audit.revoked(ctx, &l.Share, actor)
	if err := s.save(ctx); err != nil {
		return true, notSaved("The link is revoked, but would be valid again after a restart.", err)
	}
	return true, nil
}

func (s *Store) end(l *activeShare) bool {
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

// Count returns the number of shares, and the number of open WebSockets of guests.
func (s *Store) Count() (shares, guests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.byID {
		guests += l.guests
	}
	return len(s.byID), guests
}

// Run ends expired shares, and saves changes, until ctx ends.
func (s *Store) Run(ctx context.Context) {
	for i := range s.dropped {
		s.audit.dropped(ctx, &s.dropped[i])
	}
	saved := time.Now()
	for range signal.Ticks(ctx, time.Second) {
		for _, l := range s.expired() {
			if s.end(l) {
				s.audit.expired(ctx, &l.Share)
				saved = time.Time{}
			}
		}
		if time.Since(saved) >= saveInterval {
			s.flush(ctx)
			saved = time.Now()
		}
	}
	s.flush(context.WithoutCancel(ctx))
}

func (s *Store) expired() (all []*activeShare) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.byID {
		if !time.Now().Before(l.Expires) {
			all = append(all, l)
		}
	}
	return all
}

func (s *Store) flush(ctx context.Context) {
	s.mu.Lock()
	dirty := s.dirty
	s.mu.Unlock()
	if !dirty {
		return
	}
	if err := s.save(ctx); err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "the share links were not saved", "error", err)
	}
}
