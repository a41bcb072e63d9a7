package compact_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func podText(n int) string {
	return fmt.Sprintf(`{"metadata":{"name":"p%d","namespace":"a","uid":"u%d","resourceVersion":"%d",`+
		`"creationTimestamp":"2026-11-21T10:00:00Z","labels":{"app":"web"}},"spec":{"text":%q}}`,
		n, n, n, strings.Repeat("the same text in each pod ", 40))
}

func encode(t *testing.T, e *compact.Encoder, text, cells string) *compact.Object {
	t.Helper()
	m, err := compact.ReadMetadata([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e.Encode(&compact.Parts{Metadata: m, Text: []byte(text), Cells: []byte(cells)})
}

func checkObject(t *testing.T, o *compact.Object, text, cells string) {
	t.Helper()
	if got, err := o.JSON(); err != nil || string(got) != text {
		t.Errorf("JSON of %s: got %.100s, error %v\nwant %.100s", o.Name(), got, err, text)
	}
	if string(o.Cells()) != cells {
		t.Errorf("Cells of %s: got %s, want %s", o.Name(), o.Cells(), cells)
	}
}

// An encoder builds its compression dictionary after the first 256 objects of a list, or at the end of a shorter list.
// It also uses the dictionary for later objects of the list and of the watch.
func TestObjectsAreEqualAfterCompression(t *testing.T) {
	for _, count := range []int{1, 31, 32, 255, 256, 300} {
		t.Run(fmt.Sprint(count, " objects"), func(t *testing.T) {
			e := compact.NewEncoder()
			e.BeginList()
			var objects []*compact.Object
			for n := range count {
				objects = append(objects, encode(t, e, podText(n), fmt.Sprintf(`["p%d"]`, n)))
			}
			if got, want := e.Collecting(), count < 256; got != want {
				t.Errorf("Collecting: got %t, want %t", got, want)
			}
			e.EndList()
			var size int64
			for _, o := range objects {
				size += int64(o.Size())
			}
			if got := e.ListBytes(); e.Collecting() || got != size {
				t.Errorf("after the list: Collecting %t, ListBytes %d, want false, %d", e.Collecting(), got, size)
			}
			objects = append(objects, encode(t, e, podText(count), fmt.Sprintf(`["p%d"]`, count)))
			for n, o := range objects {
				checkObject(t, o, podText(n), fmt.Sprintf(`["p%d"]`, n))
			}
			if last := objects[len(objects)-1]; count >= 32 && last.Size() > len(podText(0))/2 {
				t.Errorf("after the list: an object uses %d bytes, want at most half of %d", last.Size(), len(podText(0)))
			}
		})
	}
}

func TestObjectContainsItsMetadata(t *testing.T) {
	o := encode(t, compact.NewEncoder(), podText(7), `["p7","1"]`)
	got := []string{
		o.Namespace(), o.Name(), o.UID(), o.ResourceVersion(), o.Created().Format(time.RFC3339), o.Labels().Value(),
		string(o.Cell(1)), string(o.Cell(2)),
	}
	want := []string{"a", "p7", "u7", "7", "2026-11-21T10:00:00Z", `{"app":"web"}`, `"1"`, ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	wantRow := `{"ns":"a","name":"p7","uid":"u7","rv":"7","created":"2026-11-21T10:00:00Z","cells":["p7","1"]}`
	if row := string(o.AppendRow(nil, true)); row != wantRow {
		t.Errorf("AppendRow: got %s\nwant %s", row, wantRow)
	}
}

func TestReadMetadataRefusesInvalidObjects(t *testing.T) {
	for _, text := range []string{``, `[]`, `{}`, `{"metadata":{"namespace":"a"}}`, `{"metadata":{"name":1}}`} {
		t.Run(cmp.Or(text, "empty"), func(t *testing.T) {
			if m, err := compact.ReadMetadata([]byte(text)); err == nil {
				t.Errorf("got %+v, want an error", m)
			}
		})
	}
}

// Readers can use an object at the same time. Therefore, WithVerdict must return a copy and not change the object.
func TestWithVerdictDoesNotChangeTheObject(t *testing.T) {
	o := encode(t, compact.NewEncoder(), podText(1), `["p1"]`)
	before := string(o.AppendRow(nil, true))
	failed := o.WithVerdict(verdict.Pack(nil, &verdict.Verdict{
		Severity: verdict.Failed, Reason: "Failed", Sentence: "The pod failed.",
	}))
	if after := string(o.AppendRow(nil, true)); after != before {
		t.Errorf("the object changed from %s to %s", before, after)
	}
	checkObject(t, failed, podText(1), `["p1"]`)
	if row := string(failed.AppendRow(nil, true)); !strings.Contains(row, "The pod failed.") {
		t.Errorf("AppendRow: got %s, want the new verdict", row)
	}
}
