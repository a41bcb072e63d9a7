package auth

import (
	"crypto/sha256"
	"time"

	"glasshouse/internal/watch/authz"
)

const (
	// reviewInterval is how often the token of a login in use is reviewed again. reviewGracePeriod is how long a login
	// stays valid while reviews fail because the API server does not respond.
	reviewInterval    = 30 * time.Second
	reviewGracePeriod = 10 * time.Minute
	// defaultLifetime is how long a login lasts if its token has no expiry.
	defaultLifetime = 12 * time.Hour
)

// hash is the SHA-256 hash that is stored in place of a secret.
type hash [sha256.Size]byte

// login is one login of a user, or the use of a bearer token.
type login struct {
	user    *authz.User
	token   string // The token to review again; empty for a login by an ID token, which is not rechecked.
	expires time.Time
	ended   chan struct{} // Closed when the login has ended.

	// The following fields are guarded by sessions.mu.
	isEnded        bool
	reviewedAt     time.Time // When the token was last accepted.
	reviewFailedAt time.Time // When a review last failed because the API server did not decide.
	usedAt         time.Time // When the login was last used.
	refs           int       // How many callers have acquired the login and not released it.
	key            hash      // The key of the session; zero if the login has no session.
}

func newLogin(user *authz.User, token string, expires, reviewedAt time.Time) *login {
	return &login{
		user: user, token: token, expires: expires, ended: make(chan struct{}), reviewedAt: reviewedAt, usedAt: reviewedAt,
	}
}
