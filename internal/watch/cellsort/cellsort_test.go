package cellsort_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cellsort"
)

// RankCell sorts cells in the same order as the web page: web/test/model/sort.test.ts uses the same cases.
// Invariant: I9.
func TestCellsSortLikeThePage(t *testing.T) {
	text, err := os.ReadFile("../../web/testdata/ranks.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name     string
		Relative bool
		Cells    []json.RawMessage
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 25 {
		t.Fatalf("test vectors: got %d, error %v; want at least 25", len(vectors), err)
	}
	for _, v := range vectors {
		rank := func(cell json.RawMessage) cellsort.Rank { return cellsort.RankCell(cell, v.Relative) }
		unknown := slices.IndexFunc(v.Cells, func(cell json.RawMessage) bool { return rank(cell) == cellsort.Rank{} })
		if unknown < 0 {
			unknown = len(v.Cells)
		}
		known := v.Cells[:unknown]
		for _, descending := range []bool{false, true} {
			for i := range known {
				for k := range known {
					want := cellsort.Compare(rank(known[i]), rank(known[k]), descending)
					if got := i - k; descending && sign(want) != sign(-got) || !descending && sign(want) != sign(got) {
						t.Errorf("%s, descending %t: Compare(%s, %s): got %d",
							v.Name, descending, known[i], known[k], want)
					}
				}
			}
			for _, last := range v.Cells[unknown:] {
				if got := rank(last); got != (cellsort.Rank{}) {
					t.Errorf("%s: RankCell(%s): got %v, want an unknown rank", v.Name, last, got)
				}
				if unknown > 0 &&
					(cellsort.Compare(rank(last), rank(known[0]), descending) != 1 ||
						cellsort.Compare(rank(known[0]), rank(last), descending) != -1) {
					t.Errorf("%s, descending %t: %s is not sorted last", v.Name, descending, last)
				}
			}
		}
	}
}

func sign(n int) int { return max(-1, min(1, n)) }

// Cells that are arrays or objects are sorted as their JSON text. Cells that are empty, null or invalid JSON get the
// Rank of an unknown value.
func TestArraysSortAsTextAndInvalidCellsAsUnknown(t *testing.T) {
	if a, b := cellsort.RankCell([]byte(`["a",2]`), false),
		cellsort.RankCell([]byte(`["a",10]`), false); cellsort.Compare(a, b, false) > -1 {
		t.Errorf("Compare: %v does not sort before %v", a, b)
	}
	for _, cell := range []string{"", "null", `"`} {
		t.Run(fmt.Sprintf("%q", cell), func(t *testing.T) {
			if got := cellsort.RankCell([]byte(cell), false); got != (cellsort.Rank{}) {
				t.Errorf("got %v, want an unknown rank", got)
			}
		})
	}
}

func TestWordsAreSplitAndLowercased(t *testing.T) {
	// At the end of a word, the lower case of sigma is ς. An ellipsis ends a word, but a hyphenation point does not.
	if got := cellsort.Lower("ΑΣ‧Α ΑΣ…Α"); got != "ασ‧α ας…α" {
		t.Errorf("got %q", got)
	}
	if got := strings.Join(cellsort.Words(" Web\u00a0\ufeff1/1\tΟΔΟΣ \n"), "|"); got != "web|1/1|οδος" {
		t.Errorf("got %s", got)
	}
}

func BenchmarkRankCell(b *testing.B) {
	for name, cell := range map[string]string{
		"name": `"web-7d4b9c6f5-x2x8q"`, "time": `"2026-11-21T10:00:00Z"`, "quantity": `"512Mi"`, "number": `17`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cellsort.RankCell([]byte(cell), name == "time")
			}
		})
	}
}
