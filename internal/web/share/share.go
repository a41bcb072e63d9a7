// Package share stores share links. A guest is a client that uses a share link to read a part of its creator's data
// for a limited time.
//
// The guest cookie is derived from the token of 256 random bits. The Store keeps only the hash of the cookie. No
// error or log line contains the token or the cookie. A Store is safe for concurrent use.
package share

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
)

// CookieName is the base name of the guest cookie, to which auth.CookieNameFor adds the port of the server.
const CookieName = "glasshouse-share"

// A Share is one share link.
type Share struct {
	ID       string       `json:"id"`
	To       string       `json:"to"` // Path of the first page for guests, without the base path.
	Created  time.Time    `json:"created"`
	Expires  time.Time    `json:"expires"`
	Note     string       `json:"note"`
	Cluster  string       `json:"cluster"` // Cluster ID, which does not change at a restart.
	Parts    []watch.Part `json:"parts"`
	Creator  *authz.User  `json:"creator,omitempty"` // Guests get this user's permissions; nil: the program's.
	LastUsed time.Time    `json:"lastUsed,omitzero"`
}

// Viewer returns the viewer whose permissions all guests of the share have. Guests can never read more than the creator
// can currently read.
func (s *Share) Viewer() watch.Viewer {
	return watch.Viewer{Program: s.Creator == nil, User: s.Creator, Scope: &watch.Scope{Parts: s.Parts}}
}

// HomeNamespace returns the namespace of the home page that the share link opens, or "" for the home page of all
// namespaces. ok is false if the link opens another page.
func (s *Share) HomeNamespace() (namespace string, ok bool) {
	path, _, _ := strings.Cut(s.To, "?")
	if path == "/" {
		return "", true
	}
	segment, ok := strings.CutPrefix(path, "/ns/")
	namespace, err := url.PathUnescape(segment)
	return namespace, ok && err == nil && namespace != "" && !strings.Contains(namespace, "/")
}

// isCreatedBy reports whether user created the share. A nil user matches shares without a creator.
func (s *Share) isCreatedBy(user *authz.User) bool {
	if s.Creator == nil || user == nil {
		return s.Creator == user
	}
	return s.Creator.Name == user.Name && s.Creator.UID == user.UID
}

// hash is the SHA-256 hash of a guest cookie, which the Store keeps instead of the cookie.
type hash [sha256.Size]byte

func newToken() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random)
	return base64.RawURLEncoding.EncodeToString(random)
}

func newID() string { return strings.ToLower(rand.Text()) }

func cookieOf(token string) string {
	sum := sha256.Sum256([]byte("glasshouse share cookie" + token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func hashOf(cookie string) hash { return sha256.Sum256([]byte(cookie)) }
