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

// A Message is a message of the server. It has the members of all types of messages.
type Message struct {
	ID             int // The subscription; 0 if the message is not about a subscription.
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
	Waiting        any // true for a log that has not begun, a number for a window.
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

	Raw json.RawMessage `json:"-"` // The text of the message.
}

// Counts contains the number of all rows (Total), and the number of rows that a search matches (Matching).
type Counts struct{ Total, Matching int }

// A Problem is an error of the server.
type Problem struct {
	Title, Detail string
	Status        int
}

// A Row is one object as the rows view sends it.
type Row struct {
	NS, Name, UID, RV string
	Cells             []json.RawMessage
}

// Key returns the namespace and name of a Row. No other row of the same resource has this key.
func (r *Row) Key() string { return r.NS + "/" + r.Name }

// A Column describes one column of cells. If Relative is true, its cells are times that are displayed as ages.
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
	Object, Patch, By     json.RawMessage
}

// Manager returns the field manager of an Event, or an empty text if it is unknown. It does not apply to the view
// table.
func (e *Event) Manager() string {
	var by struct{ Manager string }
	if e.By == nil || json.Unmarshal(e.By, &by) != nil {
		return ""
	}
	return by.Manager
}

// A Table contains rows as the table view sends them: one array for each field, with one element for each row.
type Table struct {
	NS, Name, RV []string
	Created      []json.RawMessage
	// Cells has one element for each column. It is an array of cells, or the name of another field of the table that
	// already has the cells: "name" or "created".
	Cells []json.RawMessage
}

// rows returns the rows of a table. The rows have no UIDs, because the table view does not send them.
func (t *Table) rows() ([]Row, error) {
	if len(t.NS) != len(t.Name) || len(t.RV) != len(t.Name) {
		return nil, fmt.Errorf("%d names, %d namespaces, %d versions", len(t.Name), len(t.NS), len(t.RV))
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
			return nil, errors.Join(err, fmt.Errorf("%d rows, and a column with %d cells", len(rows), len(cells)))
		}
		for i, cell := range cells {
			rows[i].Cells = append(rows[i].Cells, cell)
		}
	}
	return rows, err
}

// ErrFrame is the error for a frame that does not consist of messages.
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
