// Package share stores share links. A guest, a client with a link, sees a part of what the link's creator may see, for
// a limited time. A watch.Scope defines this part, and package watch enforces it.
//
// A link contains a token of 256 random bits. A guest's browser gets a cookie that is derived from the token. The Store
// keeps only the hash of the cookie, from which neither can be derived. No error and no log line contains the token or
// the cookie. Guests have no state of their own: many clients may open the same link. A cookie stays valid after a
// restart of the program if the shares are persistent.
//
// A Store may be used by many goroutines. Its lock is never kept during I/O or during a wait. A separate channel
// serializes the writes of the file.
package share

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/authz"
)

// CookieName is the name of the guest cookie, see auth.CookieAt.
const CookieName = "glasshouse-share"

// A Share is one share link.
type Share struct {
	ID       string       `json:"id"`
	To       string       `json:"to"` // The first page for guests, below the base path.
	Created  time.Time    `json:"created"`
	Expires  time.Time    `json:"expires"`
	Note     string       `json:"note"`
	Cluster  string       `json:"cluster"` // The id of the shared cluster. It stays the same when the program restarts.
	Parts    []watch.Part `json:"parts"`
	Creator  *authz.User  `json:"creator,omitempty"` // Whose permissions apply to guests; nil means the program's.
	LastUsed time.Time    `json:"lastUsed,omitzero"`
}

// Viewer returns the viewer for guests of the share. It may never read more than the creator may read at that time.
func (s *Share) Viewer() watch.Viewer {
	return watch.Viewer{Program: s.Creator == nil, User: s.Creator, Scope: &watch.Scope{Parts: s.Parts}}
}

// isCreatedBy reports whether a user created the share. A nil user means the program itself, without a login.
func (s *Share) isCreatedBy(user *authz.User) bool {
	if s.Creator == nil || user == nil {
		return s.Creator == user
	}
	return s.Creator.Name == user.Name && s.Creator.UID == user.UID
}

// hash is the stored form of a cookie.
type hash [sha256.Size]byte

func newToken() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // Read never returns an error.
	return base64.RawURLEncoding.EncodeToString(random)
}

func newID() string { return strings.ToLower(rand.Text()) }

// cookieOf returns the cookie for guests that have opened the link with a token.
func cookieOf(token string) string {
	sum := sha256.Sum256([]byte("glasshouse share cookie" + token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func hashOf(cookie string) hash { return sha256.Sum256([]byte(cookie)) }
