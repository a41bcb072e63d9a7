package response

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// kubectl's YAML parser accepts the YAML that web/static/src/yaml writes. web/test/yaml/writer.test.ts verifies that
// the script writes the YAML of these cases.
//
// Invariant: I36. If YAML is copied from the page and parsed, the result is the same object. When an object changes,
// its YAML view keeps the scroll position, selection, folded lines and search. It marks only the last change, and lays
// out only the visible lines.
func TestPageYAMLParsesWithKubectlsParser(t *testing.T) {
	t.Parallel()
	for _, c := range yamlCases(t) {
		text, err := yaml.YAMLToJSON([]byte(c.YAML))
		if err != nil {
			t.Errorf("parse YAML %.200s\nerror: %v", c.YAML, err)
			continue
		}
		got, want := parseJSON(t, string(text)), parseJSON(t, c.JSON)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("YAML %.2000s\ngot  %.2000v\nwant %.2000v", c.YAML, got, want)
		}
	}
}

// Invariant: I36.
func TestJSONToYAMLSupportsAllCharacters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"nul\u0000", "del\x7f", "c1\u0080\u009f", "lines\u0085\u2028\u2029x", "\ufeffmark", "\ufffe\uffff",
		"\U0001f600", "plain",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			object, err := json.Marshal(map[string]any{"a": text, text: []string{text}})
			if err != nil {
				t.Fatal(err)
			}
			// Go escapes U+2028 and U+2029. Other JSON encoders do not, so test the unescaped characters.
			raw := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(object))
			document, err := jsonToYAML([]byte(raw))
			if err != nil {
				t.Errorf("%q: %v", raw, err)
				return
			}
			roundTrip, err := yaml.YAMLToJSON(document)
			if err != nil {
				t.Errorf("parse YAML %q: %v", document, err)
				return
			}
			if got, want := parseJSON(t, string(roundTrip)), parseJSON(t, raw); !reflect.DeepEqual(got, want) {
				t.Errorf("YAML %q: got %q, want %q", document, got, want)
			}
		})
	}
}

// Invariant: I36.
func TestPageYAMLHasKubectlsKeyOrder(t *testing.T) {
	t.Parallel()
	cases := yamlCases(t)
	last := cases[len(cases)-1]
	want, err := yaml.JSONToYAML([]byte(last.JSON))
	if err != nil {
		t.Fatal(err)
	}
	// Compare the texts without quotes, because each YAML writer chooses quotes differently.
	withoutQuotes := strings.NewReplacer(`"`, "", "'", "").Replace
	if withoutQuotes(last.YAML) != withoutQuotes(string(want)) {
		t.Errorf("got\n%s\nwant\n%s", last.YAML, want)
	}
}

type yamlCase struct{ JSON, YAML string }

func yamlCases(t *testing.T) []yamlCase {
	t.Helper()
	text, err := os.ReadFile("../../../web/test/yaml.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []yamlCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("the file contains no cases")
	}
	return cases
}

// parseJSON parses JSON. It keeps all digits of integers, which float64 would round.
func parseJSON(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return normalizeNumbers(v)
}

func normalizeNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			v[k] = normalizeNumbers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = normalizeNumbers(inner)
		}
	case json.Number:
		if f, err := strconv.ParseFloat(v.String(), 64); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return f
		}
	}
	return v
}
