package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// nextWindowMessage returns the next window message or error of the subscription with this id. It skips other
// messages.
func (c *tab) nextWindowMessage(id int) *livetest.Message {
	c.t.Helper()
	return c.Until(id, "window", "window-events", "error")
}

func rowNames(m *livetest.Message) string {
	names := make([]string, len(m.Rows))
	for i, row := range m.Rows {
		names[i] = row.Name
	}
	return strings.Join(names, " ")
}

// A window subscription sends a range of sorted rows and their changes. The client can move the range.
//
// Invariant: I10.
func TestClientMovesWindowOfSubscription(t *testing.T) {
	s := newSite(t)
	for n := range 200 {
		s.api.Set(podsRef, apitest.Item{
			Namespace: "b", Name: fmt.Sprint("job-", n), Cells: fmt.Sprintf(`["job-%d","Pending","5m"]`, n),
		})
	}
	c := s.open(nil)
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"window","ns":["b"],"q":"JOB ` +
		`pend","sort":"-name","offset":0,"count":3}`)
	m := c.nextWindowMessage(1)
	for m.Matching < 200 { // Wait until the server has received all objects.
		m = c.nextWindowMessage(1)
	}
	c.Send(`{"op":"window","id":1,"offset":0,"count":3}`)
	if m = c.nextWindowMessage(1); m.Type != "window" || rowNames(m) != "job-199 job-198 job-197" || m.Total != 201 ||
		m.Count != 3 || m.Cursor == "" || m.Columns != nil {
		t.Fatalf("first window: got %+v", m)
	}
	c.Send(`{"op":"window","id":1,"offset":198,"count":1000}`)
	if m = c.nextWindowMessage(1); rowNames(m) != "job-1 job-0" || m.Offset != 198 {
		t.Errorf("last window: got %+v", m)
	}
	c.Send(`{"op":"window","id":1,"ns":["b"],"name":"job-7","offset":0,"count":3}`)
	if m = c.nextWindowMessage(1); rowNames(m) != "job-8 job-7 job-6" || m.Offset != 191 {
		t.Errorf("window around a row: got %+v", m)
	}
	c.Send(`{"op":"window","id":1,"offset":198,"count":1000}`)
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
		{`{"op":"subscribe","id":7,"resource":"core/v1/pods","q":"x","offset":1,"view":"rates"}`, "Invalid window", "", 7},
		{
			`{"op":"subscribe","id":7,"resource":"core/v1/pods","name":"x","view":"rates"}`, "Invalid rates subscription",
			"no other members", 7,
		},
		{`{"op":"subscribe","id":7,"resource":"core/v1/pods","view":"changes","offset":1}`, "Invalid window", "", 7},
		{`{"op":"subscribe","id":7,"resource":"core/v1/pods","every":1001}`, "Invalid interval", "0 to 1000", 0},
		{`{"op":"subscribe","id":7,"resource":"core/v1/pods","every":-1}`, "Invalid interval", "every is -1", 0},
	} {
		t.Run(test.text, func(t *testing.T) {
			c.Send(test.text)
			if m = c.nextWindowMessage(test.id); m.Problem.Title != test.title ||
				!strings.Contains(m.Problem.Detail, test.detail) {
				t.Errorf("got problem %+v, want %s with %q", m, test.title, test.detail)
			}
		})
	}
	c.Send(`{"op":"subscribe","id":2,"resource":"core/v1/namespaces"}`)
	c.Until(2, "snapshot")
	c.Send(`{"op":"window","id":2,"offset":0,"count":10}`)
	if m = c.nextWindowMessage(0); m.Problem.Title != "Invalid window" {
		t.Errorf("window message for another view: got %+v, want Invalid window", m)
	}
	s.api.Set(podsRef, apitest.Item{Namespace: "b", Name: "job-0x", Cells: `["job-0x","Pending","5m"]`})
	for n := 0; n < 1; {
		m = c.nextWindowMessage(1)
		n = len(m.Events)
	}
	if m.Type != "window-events" || m.Total != 202 || m.Matching != 201 || len(m.Events) != 1 ||
		m.Events[0].Op != "insert" || m.Events[0].At != 1 || m.Events[0].Row.Name != "job-0x" {
		t.Errorf("got %+v, want an insert of job-0x before job-0", m)
	}
	c.Send(`[{"op":"unsubscribe","id":1},{"op":"window","id":1,"offset":0,"count":10}]`)
	if m = c.nextWindowMessage(0); m.Problem.Title != "No such subscription" {
		t.Errorf("window message for an ended subscription: got %+v, want No such subscription", m)
	}
}
