package share

import (
	"time"

	"glasshouse/internal/watch"
)

// Request is what somebody sends who wants to share something.
type Request struct {
	Parts   []watch.Part `json:"parts"`
	To      string       `json:"to"`
	Seconds *int64       `json:"seconds,omitempty"` // Nil for a day.
	Note    string       `json:"note"`
}

// Document is a share as who may take it back is told of it.
type Document struct {
	ID       string       `json:"id"`
	To       string       `json:"to"`
	Created  time.Time    `json:"created"`
	Expires  time.Time    `json:"expires"`
	Note     string       `json:"note"`
	Parts    []watch.Part `json:"parts"`
	Creator  string       `json:"creator"` // Empty where nobody was asked who they are.
	Viewers  int          `json:"viewers"`
	LastUsed *time.Time   `json:"lastUsed"` // Nil for never.
}

// Created is the answer to a Request.
type Created struct {
	Document

	URL        string `json:"url"`        // The link.
	Persistent bool   `json:"persistent"` // It outlives the server.
}

// Documents are what there is to take back.
type Documents struct {
	Shares     []Document `json:"shares"`
	Persistent bool       `json:"persistent"`
}

// Document is the share as it is told.
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
