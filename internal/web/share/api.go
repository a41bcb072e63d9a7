package share

import (
	"time"

	"glasshouse/internal/watch"
)

// Request is the body of a request that creates a share.
type Request struct {
	Parts   []watch.Part `json:"parts"`
	To      string       `json:"to"`
	Seconds *int64       `json:"seconds,omitempty"` // Nil means a day.
	Note    string       `json:"note"`
}

// Document describes a share to a user who may revoke it.
type Document struct {
	ID       string       `json:"id"`
	To       string       `json:"to"`
	Created  time.Time    `json:"created"`
	Expires  time.Time    `json:"expires"`
	Note     string       `json:"note"`
	Parts    []watch.Part `json:"parts"`
	Creator  string       `json:"creator"` // Empty if it was created without a login.
	Viewers  int          `json:"viewers"`
	LastUsed *time.Time   `json:"lastUsed"` // Nil if it was never used.
}

// Created is the response to a Request.
type Created struct {
	Document

	URL        string `json:"url"`        // The link.
	Persistent bool   `json:"persistent"` // The share survives a restart of the server.
}

// Documents is the list of shares that a user may revoke.
type Documents struct {
	Shares     []Document `json:"shares"`
	Persistent bool       `json:"persistent"`
}

// Document returns the description of the share.
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
