package auth

import (
	"crypto/sha256"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
)

const (
	// While a login is in use, the API server reviews its token once per reviewInterval.
	reviewInterval = 30 * time.Second
	// reviewGracePeriod is how long a login stays valid after the last successful review, if the API server does not
	// respond.
	reviewGracePeriod = 10 * time.Minute
	// defaultLifetime is the lifetime of a login whose token has no expiry.
	defaultLifetime = 12 * time.Hour
)

type hash [sha256.Size]byte

// login is one login of a user. A request with a bearer token has a login without a session.
type login struct {
	user    *authz.User
	token   string // Token to review again; empty for a login with an ID token, which is not reviewed again.
	expires time.Time
	ended   chan struct{}

	// The following fields are guarded by sessions.mu.
	isEnded        bool
	reviewedAt     time.Time // When the API server last accepted the token.
	reviewFailedAt time.Time // When a review last failed because the API server did not answer.
	usedAt         time.Time
	refs           int  // Number of callers that use the login; see sessions.acquire.
	key            hash // Key in sessions.all; zero without a session.
}

func newLogin(user *authz.User, token string, expires, reviewedAt time.Time) *login {
	return &login{
		user: user, token: token, expires: expires, ended: make(chan struct{}), reviewedAt: reviewedAt, usedAt: reviewedAt,
	}
}
