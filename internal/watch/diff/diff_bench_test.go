package diff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wI2L/jsondiff"

	"github.com/glasshouse-project/glasshouse/internal/watch/diff"
)

func fixture(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func replaceOnce(tb testing.TB, text, old, new string) string {
	tb.Helper()
	if !strings.Contains(text, old) {
		tb.Fatalf("the text does not contain %s", old)
	}
	return strings.Replace(text, old, new, 1)
}

func endpoint(i int) string {
	return fmt.Sprintf(`{"addresses":["10.244.%d.%d"],`+
		`"conditions":{"ready":true,"serving":true,"terminating":false},"nodeName":"node-%d",`+
		`"targetRef":{"kind":"Pod","namespace":"shop","name":"checkout-6d4cf56db6-%05d",`+
		`"uid":"0b7c3a51-2f0e-4a5e-9d2c-%012d"},"zone":"eu-1a"},`,
		i/250, i%250, i%60, i, i)
}

func endpointSlice(n int) string {
	var s strings.Builder
	s.WriteString(`{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1",` +
		`"metadata":{"name":"checkout-x7k2p","resourceVersion":"1"},"addressType":"IPv4","endpoints":[`)
	for i := range n {
		s.WriteString(endpoint(i))
	}
	return strings.TrimSuffix(s.String(), ",") + `],"ports":[{"name":"http","port":8080,"protocol":"TCP"}]}`
}

type change struct {
	name, before, after string
	limit               int
}

func changes(tb testing.TB) []change {
	tb.Helper()
	starting, running := fixture(tb, "pod-starting.json"), fixture(tb, "pod-running.json")
	slice := endpointSlice(1000)
	farApart := replaceOnce(tb, slice, endpoint(3), "")
	farApart = replaceOnce(tb, farApart, endpoint(990), replaceOnce(tb, endpoint(990), `"ready":true`, `"ready":false`))
	env := `{"name":"MODE","value":"canary"},`
	return []change{
		{"pod-status", starting, running, 1800},
		{"pod-label", running, replaceOnce(tb, running, `"team":"payments"`, `"team":"orders"`), 100},
		{"pod-head-insert", running, replaceOnce(tb, running, `"env":[`, `"env":[`+env), 100},
		{"endpoints-head-insert", slice, replaceOnce(tb, slice, `"endpoints":[`, `"endpoints":[`+endpoint(2000)), 400},
		{"endpoints-middle-remove", slice, replaceOnce(tb, slice, endpoint(500), ""), 100},
		{"endpoints-far-apart", slice, farApart, 200},
	}
}

func TestPatchesAreSmall(t *testing.T) {
	for _, c := range changes(t) {
		patch, err := diff.Patch([]byte(c.before), []byte(c.after))
		if err != nil || len(patch) > c.limit {
			t.Errorf("%s: got %d bytes, error %v, want at most %d: %s", c.name, len(patch), err, c.limit, patch)
		}
	}
}

func useNumber(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}

func BenchmarkDiffPatch(b *testing.B) {
	implementations := []struct {
		name string
		run  func(before, after []byte) ([]byte, error)
	}{
		{"own", diff.Patch},
		{"decode+jsondiff", func(before, after []byte) ([]byte, error) {
			var x, y any
			if err := useNumber(before, &x); err != nil {
				return nil, err
			}
			if err := useNumber(after, &y); err != nil {
				return nil, err
			}
			p, err := jsondiff.CompareWithoutMarshal(x, y)
			if err != nil {
				return nil, err
			}
			return json.Marshal(p)
		}},
		{"CompareJSON", func(before, after []byte) ([]byte, error) { return compareJSON(before, after) }},
		{
			"CompareJSON+LCS",
			func(before, after []byte) ([]byte, error) { return compareJSON(before, after, jsondiff.LCS()) },
		},
	}
	for _, c := range changes(b) {
		before, after := []byte(c.before), []byte(c.after)
		for _, implementation := range implementations {
			b.Run(c.name+"/"+implementation.name, func(b *testing.B) {
				b.ReportAllocs()
				size := 0
				for b.Loop() {
					patch, err := implementation.run(before, after)
					if err != nil {
						b.Fatal(err)
					}
					size = len(patch)
				}
				b.ReportMetric(float64(size), "patch-B")
			})
		}
	}
}

func compareJSON(before, after []byte, options ...jsondiff.Option) ([]byte, error) {
	p, err := jsondiff.CompareJSON(before, after, append(options, jsondiff.UnmarshalFunc(useNumber))...)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(p)
}
