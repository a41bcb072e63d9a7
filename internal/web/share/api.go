package share

import (
	"time"

	"glasshouse/internal/watch"
)

// Request is the body of an HTTP request that creates a share link.
type Request struct {
	Parts   []watch.Part `json:"parts"`
	To      string       `json:"to"`
	Seconds *int64       `json:"seconds,omitempty"` // Lifetime of the link in seconds; nil means one day.
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
	Creator  string       `json:"creator"` // User name; empty if the link was created without a login.
	Viewers  int          `json:"viewers"`
	LastUsed *time.Time   `json:"lastUsed"` // Nil if the link was never used.
}

// Created is the response to a Request that has created a share link.
type Created struct {
	Document

	URL        string `json:"url"`        // URL of the share link, with its token.
	Persistent bool   `json:"persistent"` // Whether the link survives a restart of the server.
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
