package severity_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/severity"
)

// web/test/model/severity.test.ts tests the page with the same file.
func TestSeveritiesOfRow(t *testing.T) {
	text, err := os.ReadFile("testdata/severities.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Cells [][3]string
		Rows  []struct {
			Columns, Cells []string
			Want           []severity.Severity
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases.Cells) < 30 || len(cases.Rows) < 10 {
		t.Fatalf("test cases: got %d cells, %d rows, error %v", len(cases.Cells), len(cases.Rows), err)
	}
	check := func(names, cells []string, want []severity.Severity) {
		columns := make([]listwatch.Column, len(names))
		for i, name := range names {
			columns[i].Name = name
		}
		if got := severity.OfRow(columns, cells); !slices.Equal(got, want) {
			t.Errorf("OfRow(%v, %q): got %q, want %q", names, cells, got, want)
		}
	}
	for _, c := range cases.Cells {
		check(c[:1], c[1:2], []severity.Severity{severity.Severity(c[2])})
	}
	for _, r := range cases.Rows {
		check(r.Columns, r.Cells, r.Want)
	}
}
