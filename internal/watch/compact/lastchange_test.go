package compact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// since returns a time after the creation of the objects of podText.
func since(d time.Duration) time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).Add(d) }

func encodeBy(t *testing.T, e *compact.Encoder, text string, by *fieldmanager.Author) *compact.Object {
	t.Helper()
	m, err := compact.ReadMetadata([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	parts := compact.Parts{Metadata: m, Text: []byte(text), Cells: fmt.Appendf(nil, `["%s"]`, m.Name), SpecAuthor: by}
	if by != nil {
		parts.ManagedTime = by.Time
	}
	return e.Encode(&parts)
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
	}
	want := []compact.LastChange{
		{},
		{By: "helm", At: since(time.Second), IsCreation: true},
		{By: "kubectl-edit", At: since(2 * time.Second)},
	}
	for n := range 300 {
		objects = append(objects, encodeBy(t, e, podText(n), authors[n%len(authors)]))
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

// An object without a last change uses one byte for it. Most objects are pods, and pods have no last change.
func TestMissingLastChangeTakesOneByte(t *testing.T) {
	e := compact.NewEncoder()
	without := encodeBy(t, e, podText(1), nil).Size()
	for _, manager := range []string{"helm", strings.Repeat("x", 100)} {
		with := encodeBy(t, e, podText(1), &fieldmanager.Author{Manager: manager, Time: since(0)}).Size()
		if with-without != len(manager)+4 {
			t.Errorf("got %d and %d bytes, want the manager and 4 bytes for the time more", with, without)
		}
	}
}

func TestNewLastChangeIsNotOlder(t *testing.T) {
	e := compact.NewEncoder()
	spec := 0
	by := func(manager string, seconds int) *compact.Object {
		spec++ // Each version has another specification.
		text := strings.Replace(podText(1), `"spec":{`, fmt.Sprintf(`"spec":{"x":%d,`, spec), 1)
		return encodeBy(t, e, text, &fieldmanager.Author{
			Manager: manager, Time: since(time.Duration(seconds) * time.Second),
		})
	}
	labels := func(manager string, seconds int) *compact.Object {
		return encodeBy(t, e, podText(1), &fieldmanager.Author{
			Manager: manager, Time: since(time.Duration(seconds) * time.Second),
		})
	}
	none := encodeBy(t, e, podText(1), nil)
	for _, test := range []struct {
		name          string
		before, after *compact.Object
		want          string
	}{
		{"newer", by("helm", 5), by("kubectl-edit", 6), "kubectl-edit"},
		{"newer by the same manager", by("helm", 5), by("helm", 6), "helm"},
		{"another manager in the same second", by("helm", 5), by("kubectl-edit", 5), "kubectl-edit"},
		{"first known", none, by("helm", 5), "helm"},
		{"a write of only the labels", labels("helm", 5), labels("helm", 6), ""},
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
