package compact_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// since returns a time after the creation of the objects of podText.
func since(d time.Duration) time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).Add(d) }

func encodeBy(t *testing.T, e *compact.Encoder, n int, by *fieldmanager.Author) *compact.Object {
	t.Helper()
	text := []byte(podText(n))
	m, err := compact.ReadMetadata(text)
	if err != nil {
		t.Fatal(err)
	}
	return e.Encode(&compact.Parts{
		Metadata: m, Text: text, Cells: fmt.Appendf(nil, `["p%d"]`, n), SpecAuthor: by,
	})
}

func checkLastChange(t *testing.T, name string, o *compact.Object, want compact.LastChange) {
	t.Helper()
	if got, ok := compact.LastChangeOf(o); got != want || ok != (want != compact.LastChange{}) {
		t.Errorf("%s: got %+v, %t, want %+v", name, got, ok, want)
	}
}

// The last change of an object stays the same if the object is compressed, gets a verdict, or is masked.
func TestObjectsHaveTheirLastChange(t *testing.T) {
	e := compact.NewEncoder()
	e.BeginList()
	var objects []*compact.Object
	authors := []*fieldmanager.Author{
		nil,
		{Manager: "helm", Time: since(time.Second)},
		{Manager: "kubectl-edit", Time: since(2*time.Second + time.Millisecond)},
		{Manager: "", Time: since(time.Hour)},
	}
	want := []compact.LastChange{
		{},
		{By: "helm", At: since(time.Second), IsCreation: true},
		{By: "kubectl-edit", At: since(2 * time.Second)},
		{By: "", At: since(time.Hour)},
	}
	for n := range 300 {
		objects = append(objects, encodeBy(t, e, n, authors[n%len(authors)]))
	}
	e.EndList()
	mask := compact.NewGuestMask("", "pods")
	v := verdict.Pack(nil, &verdict.Verdict{Severity: verdict.Failed, Reason: "Failed", Sentence: "It failed."})
	for n, o := range objects {
		name := fmt.Sprint("object ", n)
		checkObject(t, o, podText(n), fmt.Sprintf(`["p%d"]`, n))
		for _, copied := range []*compact.Object{o, o.WithVerdict(v), mask.Object(o)} {
			checkLastChange(t, name, copied, want[n%len(want)])
		}
		after, err := mask.After(o, o.WithVerdict(v))
		if err != nil {
			t.Fatal(err)
		}
		checkLastChange(t, name+" after a change", after, want[n%len(want)])
	}
}

// An object without a last change needs one byte for it, because most objects are pods, of which none is stored.
func TestMissingLastChangeTakesOneByte(t *testing.T) {
	e := compact.NewEncoder()
	without := encodeBy(t, e, 1, nil).Size()
	with := encodeBy(t, e, 1, &fieldmanager.Author{Manager: "helm", Time: since(0)}).Size()
	if with-without != len("helm")+4 {
		t.Errorf("got %d and %d bytes, want a difference of 8: the manager and 4 bytes for the time", with, without)
	}
}

func TestNewLastChangeIsNotOlder(t *testing.T) {
	e := compact.NewEncoder()
	by := func(manager string, seconds int) *compact.Object {
		return encodeBy(t, e, 1, &fieldmanager.Author{
			Manager: manager, Time: since(time.Duration(seconds) * time.Second),
		})
	}
	none := encodeBy(t, e, 1, nil)
	for _, test := range []struct {
		name          string
		before, after *compact.Object
		want          string
	}{
		{"newer", by("helm", 5), by("kubectl-edit", 6), "kubectl-edit"},
		{"newer by the same manager", by("helm", 5), by("helm", 6), "helm"},
		{"another manager in the same second", by("helm", 5), by("kubectl-edit", 5), "kubectl-edit"},
		{"first known", none, by("helm", 5), "helm"},
		{"same", by("helm", 5), by("helm", 5), ""},
		{"older, because the newer author owns no field any more", by("kubectl-edit", 6), by("helm", 5), ""},
		{"unknown", by("helm", 5), none, ""},
		{"still unknown", none, none, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := compact.NewLastChange(test.before, test.after); ok != (test.want != "") || ok && got.By != test.want {
				t.Errorf("got %+v, %t, want a change by %q", got, ok, test.want)
			}
		})
	}
}
