package livetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// A Subscription is a message that subscribes to a view.
type Subscription struct {
	Op         string   `json:"op"`
	ID         int      `json:"id"`
	Resource   string   `json:"resource,omitempty"`
	Namespaces []string `json:"ns,omitempty"`
	Labels     string   `json:"labels,omitempty"`
	Fields     string   `json:"fields,omitempty"`
	Name       string   `json:"name,omitempty"`
	View       string   `json:"view,omitempty"`
	Q          string   `json:"q,omitempty"`    // Window (part of a sorted list) only: text to search for.
	Sort       string   `json:"sort,omitempty"` // Window only: a column in lowercase; "-" means descending.
	Offset     int      `json:"offset,omitempty"`
	Count      int      `json:"count,omitempty"`
	Cursor     string   `json:"cursor,omitempty"`
}

// A Message is a message of the server. It has the fields of all message types. Fields that its own type does not have
// are empty.
type Message struct {
	ID             int // The ID of the subscription; 0 for none.
	Type           string
	Cursor         string
	State, Reason  string
	Columns        []Column
	Rows           []Row
	Table          *Table
	Last           bool
	Object         json.RawMessage
	Events         []Event
	Offset, Count  int
	Digest         string
	Text           string
	Waiting        any // For a log, true until the API server responds; for a window, how many rows are progressing.
	Sent           int `json:"told"`
	Of             int
	Build          string
	ResourceCounts map[string]int `json:"counts"`
	Resources      []struct {
		Ref, State string
		Namespaces []string
	}
	Problem Problem
	Counts

	Raw json.RawMessage `json:"-"`
}

// Counts contains the numbers of all rows and of those that a search matches.
type Counts struct{ Total, Matching int }

// A Problem is an error that the server reports in a message.
type Problem struct {
	Title, Detail string
	Status        int
}

// A Row is one object in a message of the view "rows".
type Row struct {
	NS, Name, UID, RV string
	Cells             []json.RawMessage
}

// Key returns namespace and name, which identify a row of a resource.
func (r *Row) Key() string { return r.NS + "/" + r.Name }

// A Column describes one column. Relative means that its cells are times, displayed as ages.
type Column struct {
	Name     string
	Relative bool
}

// An Event is a change of a row, of an object, or of a window.
type Event struct {
	Op, NS, Name, UID, RV string
	At                    int
	Row                   Row
	Cells                 map[int]json.RawMessage
	Object, Patch         json.RawMessage
	Verdict               json.RawMessage
}

// follows reports whether the update can follow a version: the resourceVersion of the update is newer, or both
// resourceVersions are the same and only the verdict has changed.
func (e *Event) follows(version string) bool {
	isVerdictOnly := e.Verdict != nil && len(e.Cells) == 0 && (e.Patch == nil || string(e.Patch) == "[]")
	return newer(e.RV, version) || e.RV == version && isVerdictOnly
}

// A Table contains rows column by column: one array for each field.
type Table struct {
	NS, Name, RV []string
	Created      []json.RawMessage
	// Cells has one element per column: an array of cells, or a name. A name such as "created" means that the cells are
	// equal to this field of the rows.
	Cells []json.RawMessage
}

// rows returns the rows of the table. They have no UIDs, because the table view sends none.
func (t *Table) rows() ([]Row, error) {
	if len(t.NS) != len(t.Name) || len(t.RV) != len(t.Name) {
		return nil, fmt.Errorf("table has different numbers of names (%d), namespaces (%d) and versions (%d)",
			len(t.Name), len(t.NS), len(t.RV))
	}
	rows := make([]Row, len(t.Name))
	for i, name := range t.Name {
		rows[i] = Row{NS: t.NS[i], Name: name, RV: t.RV[i]}
	}
	names, err := json.Marshal(t.Name)
	for _, column := range t.Cells {
		var cells []json.RawMessage
		switch string(column) {
		case `"name"`:
			column = names
		case `"created"`:
			cells = t.Created
		}
		if cells == nil {
			err = errors.Join(err, json.Unmarshal(column, &cells))
		}
		if len(cells) != len(rows) {
			return nil, errors.Join(err, fmt.Errorf("table has %d rows and a column with %d cells", len(rows), len(cells)))
		}
		for i, cell := range cells {
			rows[i].Cells = append(rows[i].Cells, cell)
		}
	}
	return rows, err
}

// ErrFrame reports a frame that does not consist of messages.
var ErrFrame = errors.New("a frame that is not understood")

// Decode returns the messages of a frame.
func Decode(frame []byte) ([]*Message, error) {
	texts := []json.RawMessage{frame}
	if bytes.HasPrefix(frame, []byte("[")) {
		if err := json.Unmarshal(frame, &texts); err != nil {
			return nil, fmt.Errorf("%w: %w: %.200s", ErrFrame, err, frame)
		}
	}
	messages := make([]*Message, len(texts))
	for i, text := range texts {
		m := &Message{Raw: text}
		if err := json.Unmarshal(text, m); err != nil {
			return nil, fmt.Errorf("%w: %w: %.200s", ErrFrame, err, text)
		}
		messages[i] = m
	}
	return messages, nil
}
