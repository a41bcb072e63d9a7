package auth

import (
	"crypto/sha256"
	"time"

	"glasshouse/internal/watch"
)

const (
	// reviewEvery is how often the token of a login in use is reviewed again. patience is how long a login stays valid
	// while reviews fail because the API server does not respond.
	reviewEvery = 30 * time.Second
	patience    = 10 * time.Minute
	// longest is how long a login lasts if its token has no expiry.
	longest = 12 * time.Hour
)

// hash is the SHA-256 hash that is stored in place of a secret.
type hash [sha256.Size]byte

// login is a user who has logged in.
type login struct {
	user    *watch.User
	token   string // The token of the login; empty if there are no rechecks.
	expires time.Time
	ended   chan struct{} // Closed when the login has ended.

	// Guarded by sessions.mu.
	over       bool
	reviewed   time.Time // When the token was last accepted.
	unanswered time.Time // When a review last failed because the API server did not decide.
	used       time.Time
	holders    int
	key        hash // The key of the session; zero if there is none.
}

func newLogin(user *watch.User, token string, expires, reviewed time.Time) *login {
	return &login{
		user: user, token: token, expires: expires, ended: make(chan struct{}), reviewed: reviewed, used: reviewed,
	}
}
