package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"glasshouse/internal/watch/apitest"
)

// windowMessage contains the members of all messages of a subscription to the view "window".
type windowMessage struct {
	ID                             *int
	Type, Cursor                   string
	Columns                        []struct{ Name string }
	Total, Matching, Offset, Count int
	Rows                           []struct{ Name string }
	Events                         []struct {
		Op  string
		At  int
		Row struct{ Name string }
		RV  string
	}
	Problem struct{ Title, Detail string }
}

// nextWindowMessage reads messages up to the next message of the window subscription with this id, or an error.
func (c *tab) nextWindowMessage(id int) windowMessage {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	for {
		var m windowMessage
		_, text, err := c.conn.Read(ctx)
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			c.t.Fatalf("waiting for the window %d: %v", id, err)
		}
		matches := m.ID == nil && id == 0 || m.ID != nil && *m.ID == id
		if matches && (m.Type == "window" || m.Type == "window-events" || m.Type == "error") {
			return m
		}
	}
}

func (m *windowMessage) names() string {
	names := make([]string, len(m.Rows))
	for i, row := range m.Rows {
		names[i] = row.Name
	}
	return strings.Join(names, " ")
}

// A window subscription sends the rows of its window (a range of a sorted list) and their changes. A client can move
// the window. An invalid range is refused, and the subscription continues.
//
// Invariant: I10.
func TestWindowSubscription(t *testing.T) {
	s := newSite(t)
	for n := range 200 {
		s.api.Set(podsRef, apitest.Item{
			Namespace: "b", Name: fmt.Sprint("job-", n), Cells: fmt.Sprintf(`["job-%d","Pending","5m"]`, n),
		})
	}
	c := s.open(nil)
	c.send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"window","ns":["b"],"q":"JOB ` +
		`pend","sort":"-name","offset":0,"count":3}`)
	m := c.nextWindowMessage(1)
	for m.Matching < 200 { // Wait until the server has received all objects.
		m = c.nextWindowMessage(1)
	}
	c.send(`{"op":"window","id":1,"offset":0,"count":3}`)
	if m = c.nextWindowMessage(1); m.Type != "window" || m.names() != "job-199 job-198 job-197" || m.Total != 201 ||
		m.Count != 3 || m.Cursor == "" || m.Columns != nil {
		t.Fatalf("got %+v", m)
	}
	c.send(`{"op":"window","id":1,"offset":198,"count":1000}`)
	if m = c.nextWindowMessage(1); m.names() != "job-1 job-0" || m.Offset != 198 {
		t.Errorf("got %+v", m)
	}
	c.send(`{"op":"window","id":1,"ns":["b"],"name":"job-7","offset":0,"count":3}`)
	if m = c.nextWindowMessage(1); m.names() != "job-8 job-7 job-6" || m.Offset != 191 {
		t.Errorf("around a row: got %+v", m)
	}
	c.send(`{"op":"window","id":1,"offset":198,"count":1000}`)
	c.nextWindowMessage(1)
	for _, test := range []struct {
		text, title, detail string
		id                  int
	}{
		{`{"op":"window","id":1,"offset":-1,"count":10}`, "Invalid window", "offset -1", 0},
		{`{"op":"window","id":1,"offset":0}`, "Invalid window", "count 0", 0},
		{`{"op":"window","id":1,"offset":0,"count":1001}`, "Invalid window", "1 to 1000", 0},
		{`{"op":"window","id":1,"offset":1.5,"count":10}`, "Wrong type", "offset is a number 1.5", 0},
		{`{"op":"window","id":7,"offset":0,"count":10}`, "No such subscription", "7", 0},
		{
			`{"op":"subscribe","id":7,"resource":"core/v1/pods","view":"window","count":2000}`, "Invalid window",
			"count 2000", 7,
		},
		{`{"op":"subscribe","id":7,"resource":"core/v1/pods","view":"window"}`, "Invalid window", "count 0", 7},
		{
			`{"op":"subscribe","id":7,"resource":"core/v1/pods","view":"window","count":9,"sort":"-colour"}`,
			"Unknown column", `"colour"`, 7,
		},
		{
			`{"op":"subscribe","id":7,"resource":"core/v1/pods","view":"window","count":9,"name":"x"}`,
			"Name and view do not match", "", 7,
		},
		{`{"op":"subscribe","id":7,"resource":"core/v1/pods","q":"x"}`, "Invalid window", `the view is "rows"`, 7},
		{`{"op":"subscribe","id":7,"resource":"core/v1/pods","view":"changes","offset":1}`, "Invalid window", "", 7},
		{`{"op":"subscribe","id":7,"resource":"core/v1/pods","every":1001}`, "Invalid interval", "0 to 1000", 0},
		{`{"op":"subscribe","id":7,"resource":"core/v1/pods","every":-1}`, "Invalid interval", "every is -1", 0},
	} {
		c.send(test.text)
		if m = c.nextWindowMessage(test.id); m.Problem.Title != test.title ||
			!strings.Contains(m.Problem.Detail, test.detail) {
			t.Errorf("%s: got %+v, want %s with %q", test.text, m, test.title, test.detail)
		}
	}
	c.send(`{"op":"subscribe","id":2,"resource":"core/v1/namespaces"}`)
	c.until(2, "snapshot")
	c.send(`{"op":"window","id":2,"offset":0,"count":10}`)
	if m = c.nextWindowMessage(0); m.Problem.Title != "Invalid window" {
		t.Errorf("moving another view: got %+v", m)
	}
	s.api.Set(podsRef, apitest.Item{Namespace: "b", Name: "job-0x", Cells: `["job-0x","Pending","5m"]`})
	for n := 0; n < 1; {
		m = c.nextWindowMessage(1)
		n = len(m.Events)
	}
	if m.Type != "window-events" || m.Total != 202 || m.Matching != 201 || len(m.Events) != 1 ||
		m.Events[0].Op != "insert" || m.Events[0].At != 1 || m.Events[0].Row.Name != "job-0x" {
		t.Errorf("got %+v, want job-0x inserted before job-0", m)
	}
	c.send(`[{"op":"unsubscribe","id":1},{"op":"window","id":1,"offset":0,"count":10}]`)
	if m = c.nextWindowMessage(0); m.Problem.Title != "No such subscription" {
		t.Errorf("moving what has ended: got %+v", m)
	}
}
