package share

import (
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

// Limits of the time for which a share link is valid.
const (
	MinLifetime     = time.Minute
	DefaultLifetime = 24 * time.Hour // Applies if a Request specifies no lifetime.
	MaxLifetime     = 30 * 24 * time.Hour
)

// Request is the request body that creates a share link.
type Request struct {
	Parts   []watch.Part `json:"parts"`
	To      string       `json:"to"`
	Seconds *int64       `json:"seconds,omitempty"` // Lifetime; nil means one day.
	Note    string       `json:"note"`
}

// Document describes a share link to a user who is allowed to revoke it.
type Document struct {
	ID       string       `json:"id"`
	To       string       `json:"to"`
	Created  time.Time    `json:"created"`
	Expires  time.Time    `json:"expires"`
	Note     string       `json:"note"`
	Parts    []watch.Part `json:"parts"`
	Creator  string       `json:"creator"` // Empty without a login.
	Viewers  int          `json:"viewers"`
	LastUsed *time.Time   `json:"lastUsed"`
}

// Created is the response to a Request.
type Created struct {
	Document

	URL        string `json:"url"` // Contains the token of the link.
	Persistent bool   `json:"persistent"`
}

// Documents is the list of share links that a user is allowed to revoke.
type Documents struct {
	Shares     []Document `json:"shares"`
	Persistent bool       `json:"persistent"`
}

// Document returns the description of the share for API clients.
func (l *Listed) Document() Document {
	d := Document{
		ID: l.ID, To: l.To, Created: l.Created, Expires: l.Expires, Note: l.Note, Parts: l.Parts,
		Creator: nameOf(l.Creator), Viewers: l.Viewers,
	}
	if !l.LastUsed.IsZero() {
		d.LastUsed = &l.LastUsed
	}
	return d
}
