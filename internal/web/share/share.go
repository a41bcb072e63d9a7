// Package share keeps what users share with those who do not log in: who has a
// link sees, for a time, a part of what its creator may see. What that part is a
// watch.Scope says, and package watch holds guests to it.
//
// A link has a token of 256 random bits, a guest's browser a cookie that follows
// from it; what is kept is the hash of the cookie alone. Neither can be told from
// it, and no error and nothing that is logged has either in it. Guests have no
// state of their own: a link may be opened by many, and cookies outlive the
// program where the shares do.
//
// A Store may be used by many goroutines. Its lock is held while nothing waits; who
// writes the file has a turn.
package share

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"glasshouse/internal/watch"
)

// CookieName is that of a guest's cookie, see auth.CookieAt.
const CookieName = "glasshouse-share"

// A Share is what somebody shares.
type Share struct {
	ID       string       `json:"id"`
	To       string       `json:"to"` // Where guests begin, below the base path.
	Created  time.Time    `json:"created"`
	Expires  time.Time    `json:"expires"`
	Note     string       `json:"note"`
	Cluster  string       `json:"cluster"` // Of which it is, by an id that outlasts the program.
	Parts    []watch.Part `json:"parts"`
	Creator  *watch.User  `json:"creator,omitempty"` // By whose rights guests see; nil for the program's.
	LastUsed time.Time    `json:"lastUsed,omitzero"`
}

// Viewer is what guests are: nobody who may see more than the creator may now.
func (s *Share) Viewer() watch.Viewer {
	return watch.Viewer{Program: s.Creator == nil, User: s.Creator, Scope: &watch.Scope{Parts: s.Parts}}
}

// by reports whether a user has made the share; nil is the program.
func (s *Share) by(user *watch.User) bool {
	if s.Creator == nil || user == nil {
		return s.Creator == user
	}
	return s.Creator.Name == user.Name && s.Creator.UID == user.UID
}

// hash stands for a cookie where it is held.
type hash [sha256.Size]byte

func newToken() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // It never fails.
	return base64.RawURLEncoding.EncodeToString(random)
}

func newID() string { return strings.ToLower(rand.Text()) }

// cookieOf is the cookie of those who have opened the link with a token.
func cookieOf(token string) string {
	sum := sha256.Sum256([]byte("glasshouse share cookie" + token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func hashOf(cookie string) hash { return sha256.Sum256([]byte(cookie)) }
