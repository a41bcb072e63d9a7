package auth

import (
	"crypto/sha256"
	"time"

	"glasshouse/internal/watch"
)

const (
	// reviewEvery is how often it is asked again whose the token is of a login that
	// is in use; patience is how long one lasts of which that cannot be found out.
	reviewEvery = 30 * time.Second
	patience    = 10 * time.Minute
	// longest is how long a login lasts whose token does not say.
	longest = 12 * time.Hour
)

// hash stands for a secret where it is held.
type hash [sha256.Size]byte

// login is somebody who has been let in.
type login struct {
	user    *watch.User
	token   string // By which they were; empty where nobody is asked again.
	expires time.Time
	ended   chan struct{} // Closed when it holds no more.

	// The lock of the sessions guards these.
	over       bool
	reviewed   time.Time // When the token was accepted last.
	unanswered time.Time // When that could not be found out last.
	used       time.Time
	holders    int
	key        hash // Of the session; zero for none.
}

func newLogin(user *watch.User, token string, expires, reviewed time.Time) *login {
	return &login{
		user: user, token: token, expires: expires, ended: make(chan struct{}), reviewed: reviewed, used: reviewed,
	}
}
