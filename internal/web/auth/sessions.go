package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// maxSessions is the maximum number of sessions of all users. Above it, makeRoomLocked ends a session.
	maxSessions = 1000
	// maxUserSessions is the maximum number of sessions of one user.
	maxUserSessions = 20
	// cookieName is the name of the session cookie without the port; see CookieNameFor.
	cookieName = "glasshouse-session"
)

// sessions contains all logins that have a session. The key of a login in the field "all" is the SHA-256 hash of its
// session ID.
type sessions struct {
	mu    sync.Mutex
	all   map[hash]*login
	inUse map[*login]bool // Logins in use, including those of bearer tokens, which have no session.
}

func newSessions() *sessions {
	return &sessions{all: make(map[hash]*login), inUse: make(map[*login]bool)}
}

func (s *sessions) find(r *http.Request) (*login, error) {
	cookies := r.CookiesNamed(CookieNameFor(cookieName, r))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cookie := range cookies {
		if l := s.all[sha256.Sum256([]byte(cookie.Value))]; l != nil && time.Now().Before(l.expires) {
			l.usedAt = time.Now()
			return l, nil
		}
	}
	if len(cookies) > 0 {
		return nil, status.NotLoggedIn("Your login has ended; log in again.")
	}
	return nil, status.NotLoggedIn("Log in to view the cluster.")
}

func (s *sessions) begin(l *login) (id string) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // crypto/rand never fails.
	id = base64.RawURLEncoding.EncodeToString(random)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoomLocked(l.user.Name)
	l.key, l.usedAt = sha256.Sum256([]byte(id)), time.Now()
	s.all[l.key] = l
	return id
}

// makeRoomLocked ends expired sessions. If a maximum is still reached, it also ends the least active session. The
// caller must have locked mu.
func (s *sessions) makeRoomLocked(user string) {
	var idle, own *login
	count := 0
	for _, l := range s.all {
		if !time.Now().Before(l.expires) {
			s.endLocked(l)
			continue
		}
		if idle == nil || l.lessActive(idle) {
			idle = l
		}
		if l.user.Name != user {
			continue
		}
		count++
		if own == nil || l.lessActive(own) {
			own = l
		}
	}
	switch {
	case count >= maxUserSessions:
		s.endLocked(own)
	case len(s.all) >= maxSessions:
		s.endLocked(idle)
	}
}

// lessActive reports whether l must end before other: an unused login ends first, then the one with the older last use.
func (l *login) lessActive(other *login) bool {
	if (l.refs == 0) != (other.refs == 0) {
		return l.refs == 0
	}
	return l.usedAt.Before(other.usedAt)
}

func (s *sessions) end(l *login) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(l)
}

func (s *sessions) endLocked(l *login) {
	if l.isEnded {
		return
	}
	l.isEnded = true
	close(l.ended)
	if s.all[l.key] == l {
		delete(s.all, l.key)
	}
}

// acquire marks a login as in use until the caller calls release. Run rechecks only logins in use.
func (s *sessions) acquire(l *login) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.refs++
	s.inUse[l] = true
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.usedAt = time.Now()
		if l.refs--; l.refs == 0 {
			delete(s.inUse, l)
		}
	})
}

func (s *sessions) due() (due []*login) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, l := range s.all {
		if !now.Before(l.expires) {
			s.endLocked(l)
		}
	}
	for l := range s.inUse {
		if !l.isEnded && l.dueLocked() {
			due = append(due, l)
		}
	}
	return due
}

func (s *sessions) isDue(l *login) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.dueLocked()
}

func (l *login) dueLocked() bool {
	age := time.Since(l.reviewedAt)
	return age >= reviewInterval && (age >= reviewGracePeriod || time.Since(l.reviewFailedAt) >= reviewInterval)
}

func (s *sessions) recordReview(l *login, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.reviewedAt = at
}

// recordFailedReview records that a review of the login's token failed without a response of the API server. It returns
// the time since the last successful review.
func (s *sessions) recordFailedReview(l *login) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.reviewFailedAt = time.Now()
	return time.Since(l.reviewedAt)
}
