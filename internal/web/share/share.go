// Package share stores share links. A guest is a client that uses a share link. For a limited time, a guest sees a
// part of what the creator of the link is permitted to read. A watch.Scope defines this part, and package watch
// enforces it.
//
// A link contains a token of 256 random bits. The browser of a guest gets a cookie that is derived from the token.
// The Store keeps only a hash of the cookie, from which neither token nor cookie can be derived. No error and no log
// line contains a token or a cookie. The Store keeps no data about single guests, so many clients can open the same
// link. If shares are stored in a directory, cookies stay valid after a restart of the program.
//
// A Store is safe for concurrent use. Its mutex is never locked during I/O or while a goroutine waits. A semaphore
// ensures that only one goroutine writes the file at a time.
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

// CookieName is the name of the guest cookie without the port; see auth.CookieNameFor.
const CookieName = "glasshouse-share"

// A Share is one share link, with the data that it shares, its creator and its expiry.
type Share struct {
	ID       string       `json:"id"`
	To       string       `json:"to"` // Path of the first page for guests, without the base path.
	Created  time.Time    `json:"created"`
	Expires  time.Time    `json:"expires"`
	Note     string       `json:"note"`
	Cluster  string       `json:"cluster"` // ID of the shared cluster. It does not change when the program restarts.
	Parts    []watch.Part `json:"parts"`
	Creator  *authz.User  `json:"creator,omitempty"` // Guests get this user's permissions; nil: the program's.
	LastUsed time.Time    `json:"lastUsed,omitzero"`
}

// Viewer returns the viewer for all guests of the share. A guest can never read more than the creator of the share is
// currently permitted to read.
func (s *Share) Viewer() watch.Viewer {
	return watch.Viewer{Program: s.Creator == nil, User: s.Creator, Scope: &watch.Scope{Parts: s.Parts}}
}

// isCreatedBy reports whether the given user created the share. If user is nil, it reports whether the share was
// created without a login.
func (s *Share) isCreatedBy(user *authz.User) bool {
	if s.Creator == nil || user == nil {
		return s.Creator == user
	}
	return s.Creator.Name == user.Name && s.Creator.UID == user.UID
}

// hash is the SHA-256 hash of a guest cookie. The Store keeps it in place of the cookie.
type hash [sha256.Size]byte

func newToken() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random)
	return base64.RawURLEncoding.EncodeToString(random)
}

func newID() string { return strings.ToLower(rand.Text()) }

// cookieOf derives the guest cookie from the token of a link.
func cookieOf(token string) string {
	sum := sha256.Sum256([]byte("glasshouse share cookie" + token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func hashOf(cookie string) hash { return sha256.Sum256([]byte(cookie)) }
