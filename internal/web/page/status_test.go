package page

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// The server formats the watch status like the page's script. web/test/status/watch-status.test.tsx uses the same
// cases.
//
// Invariant: I31.
func TestStatusPageMatchesTheScript(t *testing.T) {
	type memoryCase struct {
		Status watch.WatchStatus `json:"status"`
		Memory string            `json:"memoryText"`
	}
	var want struct {
		memoryCase

		Now    time.Time
		Rows   [][]string
		Totals []memoryCase
	}
	text, err := os.ReadFile("../testdata/watchstatus.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil ||
		len(want.Rows) != len(want.Status.Entries) {
		t.Fatalf("got %d rows for %d scopes, error %v", len(want.Rows), len(want.Status.Entries), err)
	}
	for _, total := range append(want.Totals, want.memoryCase) {
		if got := formatStatus(templates.Layout{}, total.Status, want.Now).Memory; got != total.Memory {
			t.Errorf("memory: got %q, want %q", got, total.Memory)
		}
	}
	page := formatStatus(templates.Layout{}, want.Status, want.Now)
	for i, s := range page.Scopes {
		got := []string{s.Href, s.Resource, s.Group, s.Scope, s.Status.Text, s.Reason}
		for _, cell := range s.Cells {
			got = append(got, cell.Text)
		}
		if !slices.Equal(got, want.Rows[i]) {
			t.Errorf("row: got  %q\nwant %q", got, want.Rows[i])
		}
	}
}
