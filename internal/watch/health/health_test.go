package health_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/onset"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// evaluator has no rules of the administrator.
var evaluator health.Evaluator

type fixture struct {
	name        string
	want        health.Health
	wantVerdict wantVerdict
	object      []byte
}

// wantVerdict is the expected verdict one minute after the newest time in an object. The field Overdue is the expected
// severity one day after that time.
type wantVerdict struct {
	Severity, Overdue verdict.Severity
	Reason            string
	// Deadline is the duration from the newest time in the object until the object is overdue. If it is empty, the reason
	// and the sentence of the overdue object are not checked.
	Deadline string
	// OverdueReason is empty if the overdue object keeps its reason.
	OverdueReason string
	Sentence      string // The sentence of the overdue object.
}

func fixtures(tb testing.TB) (out []fixture) {
	tb.Helper()
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no fixtures: error %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		want, object, ok := bytes.Cut(text, []byte("\n---\n"))
		f := fixture{name: strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".yaml")}
		if f.object, err = yaml.YAMLToJSONStrict(object); err != nil || !ok {
			tb.Fatalf("%s: %v", file, err)
		}
		header := struct {
			*health.Health

			Verdict *wantVerdict
		}{&f.want, &f.wantVerdict}
		if err := yaml.UnmarshalStrict(want, &header); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		out = append(out, f)
	}
	return out
}

// Invariant: I12. For each object in the folder `testdata`, the program determines the expected health. The health of
// an object has a limited size. The server sends the health together with the object, and again whenever the health has
// changed.
func TestFixturesHaveExpectedHealth(t *testing.T) {
	seen := map[string][]result.Status{}
	for _, f := range fixtures(t) {
		got := evaluator.Of(f.object)
		if !reflect.DeepEqual(got, f.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", f.name, got, f.want)
		}
		kind := filepath.Dir(f.name)
		seen[kind] = append(seen[kind], got.Status)
	}
	for kind, statuses := range seen {
		slices.Sort(statuses)
		if len(slices.Compact(statuses)) < 2 && kind != "ingress" {
			t.Errorf("%s: all fixtures have the status %s, want at least two", kind, statuses[0])
		}
	}
}

func TestTextsAreLimited(t *testing.T) {
	long := strings.Repeat("much \n ", 10_000) + strings.Repeat("é", 2000)
	containers, statuses := []any{}, []any{}
	for range 30 {
		containers = append(containers, map[string]any{"name": "c"})
		statuses = append(
			statuses,
			map[string]any{
				"name":  "c",
				"state": map[string]any{"waiting": map[string]any{"reason": "ErrImagePull", "message": long}},
			},
		)
	}
	object := map[string]any{
		"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"containers": containers},
		"status": map[string]any{"phase": "Pending", "containerStatuses": statuses},
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	h := evaluator.Of(text)
	if len(h.Details) != 20 || h.Details[19] != "10 more" {
		t.Errorf("got %d details, the last is %q; want 20 and \"10 more\"", len(h.Details), h.Details[len(h.Details)-1])
	}
	for _, sentence := range append(h.Details, h.Summary) {
		checkSentence(t, sentence)
	}
	// With one of these prefixes, the size limit is inside a two-byte letter.
	for _, before := range []string{"", "x"} {
		t.Run(fmt.Sprintf("prefix %q", before), func(t *testing.T) {
			h := evaluator.Of([]byte(`{"status":{"conditions":[{"type":"Ready","status":"False","message":"` +
				before + strings.Repeat("é", 2000) + `"}]}}`))
			checkSentence(t, h.Summary)
			if !strings.Contains(h.Summary, "é…é") || len(h.Summary) < 990 {
				t.Errorf("summary: got %d bytes: %q, want an ellipsis between two characters, and nearly 1000 bytes",
					len(h.Summary), h.Summary)
			}
		})
	}
	// The limit must keep both ends of the summary: the beginning names the container, and the end is the root cause.
	if !strings.HasSuffix(h.Summary, "éé") || !strings.HasPrefix(h.Summary, "Container c: ErrImagePull: much much") {
		t.Errorf("summary: got %.60q…%q", h.Summary, h.Summary[len(h.Summary)-10:])
	}
}

func checkSentence(t *testing.T, sentence string) {
	t.Helper()
	if sentence == "" || len(sentence) > 1000 || !utf8.ValidString(sentence) || strings.Contains(sentence, "\n") {
		t.Errorf("want one valid line of 1 to 1000 bytes, got %d bytes: %.100q", len(sentence), sentence)
	}
}

// For any text, the length of the result is limited. The computation time is proportional to the time for parsing.
// Invariant: I12.
func TestUnusualTextsAreEvaluatedInLinearTime(t *testing.T) {
	deep := strings.Repeat(`{"status":`, 9990) + "1" + strings.Repeat("}", 9990)
	for name, text := range map[string]string{
		"nothing": "", "null": "null", "a list": "[]", "deep": deep, "too deep": strings.Repeat(`{"status":`, 20_000),
		"many conditions": `{"kind":"Pod","apiVersion":"v1","status":{"conditions":[` + strings.Repeat(
			`{"type":"x","status":"True"},`, 100_000,
		) + `{}]}}`,
		"many finalizers": `{"metadata":{"deletionTimestamp":"x","finalizers":[` +
			strings.Repeat(`"xxxx",`, 100_000) + `""]}}`,
		"much data": `{"kind":"ConfigMap","apiVersion":"v1","data":"` + strings.Repeat("x", 10<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var h health.Health
			var value any
			for attempt := 1; ; attempt++ {
				elapsed := timeToRun(func() { h = evaluator.Of([]byte(text)) })
				parseTime := timeToRun(func() { _ = json.Unmarshal([]byte(text), &value) })
				if elapsed <= 30*parseTime+time.Second {
					break
				}
				if attempt == 5 {
					t.Errorf("Of took %s, reading the JSON %s; want at most 30 times plus 1 s", elapsed, parseTime)
					break
				}
			}
			if h.Summary != "" || h.Status != result.Current {
				checkSentence(t, h.Summary)
			}
		})
	}
}

func timeToRun(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func FuzzHealthOfArbitraryObject(f *testing.F) {
	for _, fixture := range fixtures(f) {
		f.Add(fixture.object)
	}
	statuses := []result.Status{result.Current, result.InProgress, result.Failed, result.Terminating, result.Unknown}
	f.Fuzz(func(t *testing.T, text []byte) {
		h := evaluator.Of(text)
		if !slices.Contains(statuses, h.Status) || len(h.Details) > 20 || h.Details == nil {
			t.Errorf("got an invalid health %q", h)
		}
		sentences := h.Details
		if h.Summary != "" || h.Status != result.Current {
			sentences = append(sentences, h.Summary)
		}
		for _, sentence := range sentences {
			checkSentence(t, sentence)
		}
		_ = onset.Of(text) // Must not panic.
		if repeated := evaluator.Of(text); !reflect.DeepEqual(h, repeated) {
			t.Errorf("Of is not deterministic: got %q, then %q", h, repeated)
		}
	})
}
