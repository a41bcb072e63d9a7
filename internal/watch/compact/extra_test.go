package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func encodeWithExtra(t *testing.T, e *compact.Encoder, text, extra string) *compact.Object {
	t.Helper()
	m, err := compact.ReadMetadata([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e.Encode(&compact.Parts{
		Metadata: m, Text: []byte(text), Cells: fmt.Appendf(nil, `["%s"]`, m.Name), Extra: []byte(extra),
	})
}

// The extra cells of an object stay the same if the object is compressed, gets a verdict, or is masked.
func TestObjectsKeepTheirExtraCells(t *testing.T) {
	e := compact.NewEncoder()
	e.BeginList()
	var objects []*compact.Object
	extra := []string{"", `["helm"]`, `["kubectl-edit","1/2"]`}
	for n := range 300 {
		objects = append(objects, encodeWithExtra(t, e, podText(n), extra[n%len(extra)]))
	}
	e.EndList()
	mask := compact.NewGuestMask("", "pods")
	v := verdict.Pack(nil, &verdict.Verdict{Severity: verdict.Failed, Reason: "Failed", Sentence: "It failed."})
	for n, o := range objects {
		checkObject(t, o, podText(n), fmt.Sprintf(`["p%d"]`, n))
		after, err := mask.After(o, o.WithVerdict(v))
		if err != nil {
			t.Fatal(err)
		}
		for _, copied := range []*compact.Object{o, o.WithVerdict(v), mask.Object(o), after} {
			if got, want := string(compact.Extra(copied)), extra[n%len(extra)]; got != want {
				t.Errorf("object %d: got the extra cells %s, want %s", n, got, want)
			}
		}
		if hidden := o.AppendRow(nil, false); strings.Contains(string(hidden), "extra") {
			t.Errorf("object %d without extra cells: got %s", n, hidden)
		}
	}
}

// An object without extra cells uses one byte for them. Most objects are pods, and pods have no extra cells.
func TestMissingExtraCellsTakeOneByte(t *testing.T) {
	e := compact.NewEncoder()
	without := encodeWithExtra(t, e, podText(1), "").Size()
	const extra = `["2026-11-21T10:00:00Z ago by helm"]`
	if with := encodeWithExtra(t, e, podText(1), extra).Size(); with-without != len(extra) {
		t.Errorf("got %d and %d bytes, want a difference of %d", with, without, len(extra))
	}
}
