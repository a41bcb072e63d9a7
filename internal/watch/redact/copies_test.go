package redact_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

func compressed(t *testing.T, text string, newWriter func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var out bytes.Buffer
	w := newWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func deflate(t *testing.T, w io.Writer) io.WriteCloser {
	t.Helper()
	writer, err := flate.NewWriter(w, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	return writer
}

func copiesOf(t *testing.T) map[string]string {
	t.Helper()
	const object = `{"kind":"Secret","data":{"password":"YzRuNHJ5"}}`
	const yaml = "data:\n  password: YzRuNHJ5\nkind: Secret\n"
	quoted, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	doubleQuoted, err := json.Marshal(string(quoted))
	if err != nil {
		t.Fatal(err)
	}
	encodeBase64 := base64.StdEncoding.EncodeToString
	long := []byte(object)
	for n := range 60 {
		long = fmt.Append(long, n*n*7919, "-")
	}
	gzipped := compressed(t, object, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	texts := map[string]string{
		"JSON":                         object,
		"JSON with whitespace":         " \n" + object,
		"JSON of a list":               "[" + object + "]",
		"JSON of another object":       `{"x":1}`,
		"JSON in quotes":               string(quoted),
		"JSON in quotes twice":         string(doubleQuoted),
		"JSON in single quotes":        "'" + object + "'",
		"JSON after a byte order mark": "\ufeff" + object,
		"JSON after a comment":         "# generated\n" + object,
		"JSON, percent-encoded":        url.QueryEscape(object),
		"JSON as a path":               url.PathEscape(object),
		"JSON, invalid percents":       url.QueryEscape(object) + "%",
		"base64 of JSON":               encodeBase64([]byte(object)),
		"base64 of spaced JSON":        encodeBase64([]byte("{\n  \"a\": 1}")),
		"base64 of truncated JSON":     encodeBase64([]byte(object))[:41],
		"base64 of JSON for URLs":      base64.RawURLEncoding.EncodeToString([]byte(`{"a":"` + "\u00ff\u00fe?" + `"}`)),
		"base64 of JSON of a list":     encodeBase64([]byte("[" + object + "]")),
		"base64, percent-encoded":      url.QueryEscape(encodeBase64([]byte(yaml))),
		"base64 in quotes":             `"` + encodeBase64([]byte(object)) + `"`,
		"base64 of base64":             encodeBase64([]byte(encodeBase64([]byte(object)))),
		"base64 of YAML":               encodeBase64([]byte(yaml)),
		"base64 of YAML, wrapped":      encodeBase64([]byte(yaml))[:20] + "\n" + encodeBase64([]byte(yaml))[20:],
		"base64 of protobuf":           encodeBase64([]byte("k8s\x00\n\x0c\n\x02v1\x12\x06Secret")),
		"hexadecimal JSON":             hex.EncodeToString([]byte(object)),
		"gzip":                         gzipped,
		"base64 of base64 of gzip":     encodeBase64([]byte(gzipped)),
		"zlib":                         compressed(t, object, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }),
		"zlib of a small object": compressed(t, `{"a":"c4n4ry"}`, func(w io.Writer) io.WriteCloser {
			return zlib.NewWriter(w)
		}),
		"bzip2": "QlpoOTFBWSZTWSlMazQAAB8fgBAEIhAAURkgLinfmiAASGqemkMjJkDJtNIUTaTACYAnoqch3JwVwJj3hIMAjFFbQpladeUz9" +
			"oetr6XgFP5ovYCj+fpAebMHRdyRThQkClMazQA=",
		"xz": "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQBBeyJhcGlWZXJzaW9uIjoidjEiLCJraW5kIjoiU2VjcmV0IiwiZGF0YSI6eyJwY" +
			"XNzd29yZCI6Ill6UnVOSEo1In19AAAAjPo+Xb02qgMAAVpCSSAA+B+2830BAAAAAARZWg==",
		"lzma": "XQAAgAD//////////wA9iIgnQ88yuJuSAvc90CPf3j0+1OC3HtU7hCbveoABcj0KC8+yr8/QUbHpgG/hh4dzHBbWWiJ02zgiM" +
			"OAYRqBsMR/+ybwA",
		"zip": encodeBase64([]byte("PK\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00")),
		"no magic bytes": compressed(t, string(long), func(w io.Writer) io.WriteCloser {
			return deflate(t, w)
		}),
		"YAML":                     yaml,
		"YAML in flow style":       "{data: {password: YzRuNHJ5}}",
		"YAML of one line":         "password: YzRuNHJ5",
		"YAML with quotes":         "\"data\":\n  \"password\": YzRuNHJ5\n",
		"YAML with comments":       "# of\n\n# me\nstringData:\n  a: b",
		"YAML of a list":           "- name: a\n- name: b",
		"YAML of a document":       "---\nnull",
		"YAML, percent-encoded":    url.QueryEscape(yaml),
		"YAML with an API version": `the apiVersion is v1`,
		"invalid UTF-8":            "x\ufffdK\ufffd",
		"control characters":       "a\x00b",
		"token":                    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl",
		"too many encodings": encodeBase64(
			[]byte(encodeBase64([]byte(encodeBase64([]byte(encodeBase64([]byte(encodeBase64([]byte("nothing at all"))))))))),
		),
		"mask with a change number": "(masked, change 3)",
		"a mask":                    "(masked)",
	}
	return texts
}

func plainTexts() []string {
	return []string{
		"", "true", "7", "30s", "10.0.0.7/32", "2026-11-21T09:59:58Z", "a.example.com,b.example.com", "nginx",
		"production", "external", "eyes",
		"eyes.example.com", "ews.example.com", "https://example.com/a?b=c", "https://example.com/a%20b",
		"nginx:1.29", "shop:apps/Deployment:shop/web", "100% sure",
		"4e1243bd22c66e76c2ba9eddc1f91394e57f9f83", strings.Repeat("0f", 64), "sha256:" + strings.Repeat("0f", 32),
		"A plain sentence, with words (and more).",
		"this sentence is long and has neither points nor marks but it is of words with spaces between them and of " +
			"nothing else so it is read as what it is and shown",
		"node.kubernetes.io/not-ready", "kubelet, a", "*.example.com", "eNode", `"quoted"`,
	}
}

// Invariant: I15.
func TestCopiesAreMaskedForGuests(t *testing.T) {
	mask := redact.NewGuestMask("apps", "deployments")
	maskedValue := func(text string) string {
		t.Helper()
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := mask.Object(nil, fmt.Appendf(nil, `{"metadata":{"annotations":{"a":%s}}}`, value))
		if err != nil {
			t.Fatal(err)
		}
		var o struct {
			Metadata struct{ Annotations map[string]string }
		}
		if err := json.Unmarshal(got, &o); err != nil {
			t.Fatal(err)
		}
		return o.Metadata.Annotations["a"]
	}
	for name, text := range copiesOf(t) {
		if got := maskedValue(text); got != "(masked)" {
			t.Errorf("%s: want a mask, got %q", name, got)
		}
	}
	for _, text := range plainTexts() {
		if got := maskedValue(text); got != text {
			t.Errorf("%q: want it unmasked, got %q", text, got)
		}
	}
}

// templates returns objects that contain other objects or templates, with %s for the innermost metadata.
func templates() map[string]string {
	const template = `{"template":{"metadata":%s,"spec":{"containers":[{"name":"c"}]}}}`
	return map[string]string{
		"core/pods":         `{"metadata":%s,"spec":{"containers":[]}}`,
		"apps/deployments":  `{"metadata":{"name":"a"},"spec":` + template + `}`,
		"apps/replicasets":  `{"metadata":{"name":"a"},"spec":` + template + `}`,
		"apps/statefulsets": `{"metadata":{"name":"a"},"spec":` + template + `}`,
		"apps/statefulsets by their claims": `{"metadata":{"name":"a"},` +
			`"spec":{"volumeClaimTemplates":[{"metadata":%s,"spec":{}}]}}`,
		"apps/daemonsets":             `{"metadata":{"name":"a"},"spec":` + template + `}`,
		"core/replicationcontrollers": `{"metadata":{"name":"a"},"spec":` + template + `}`,
		"batch/jobs":                  `{"metadata":{"name":"a"},"spec":` + template + `}`,
		"batch/cronjobs": `{"metadata":{"name":"a"},"spec":{"jobTemplate":{"metadata":%s,` +
			`"spec":{}}}}`,
		"batch/cronjobs by their pods": `{"metadata":{"name":"a"},"spec":{"jobTemplate":{"spec":` + template +
			`}}}`,
		"core/podtemplates":                  `{"metadata":{"name":"a"},"template":{"metadata":%s,"spec":{}}}`,
		"apps/controllerrevisions":           `{"metadata":{"name":"a"},"data":{"spec":` + template + `}}`,
		"argoproj.io/rollouts":               `{"metadata":{"name":"a"},"spec":` + template + `}`,
		"serving.knative.dev/services":       `{"metadata":{"name":"a"},"spec":` + template + `}`,
		"serving.knative.dev/revisions":      `{"metadata":%s,"spec":{"containers":[]}}`,
		"serving.knative.dev/configurations": `{"metadata":{"name":"a"},"spec":` + template + `}`,
		"keda.sh/scaledjobs":                 `{"metadata":{"name":"a"},"spec":{"jobTargetRef":` + template + `}}`,
		"example.com/manifests": `{"metadata":{"name":"a"},"spec":{"workload":{"manifests":[[],` +
			`{"metadata":%s}]}}}`,
		"example.com/lists": `{"metadata":{"name":"a"},` +
			`"status":{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":{"i":{"j":[[{"k":{"metadata":%s}}]]}}}}}}}}}}}`,
		"example.com/metadata in metadata": `{"metadata":{"name":"a","extra":{"metadata":%s}}}`,
		"example.com/metadata in a list":   `{"metadata":{"name":"a"},"spec":{"metadata":[{"metadata":%s}]}}`,
	}
}

func kindOf(name string) (group, resource string) {
	name, _, _ = strings.Cut(name, " ")
	group, resource, _ = strings.Cut(name, "/")
	return strings.TrimPrefix(group, "core"), resource
}

// Invariant: I15.
func TestInnerCopiesAreDropped(t *testing.T) {
	const original = `{"name":"in","managedFields":[{"manager":"c4n4ry"}],"labels":{"b":"d"},` +
		`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"x\":\"c4n4ry\"}","b":"{}",` +
		`"example.com/last-applied":{"x":"c4n4ry"}}}`
	const escaped = `{"name":"in","m\u0061nagedFields":["c4n4ry"],"labels":{"b":"d"},` +
		`"\u0061nnotations":{"kapp.k14s.io\/original":"c4n4ry","b":"{}"}}`
	const want = `{"name":"in","labels":{"b":"d"},"annotations":{"b":"{}"}}`
	for name, template := range templates() {
		group, resource := kindOf(name)
		for _, rules := range []redact.Rules{nil, rulesOf(t, "*:spec.nothing")} {
			for _, metadata := range []string{original, escaped, strings.Replace(escaped, "61nn", "61\\u006en", 1)} {
				clean, err := redact.New(rules, group, resource).Object(nil, fmt.Appendf(nil, template, metadata))
				if err != nil || string(clean.Text) != fmt.Sprintf(template, want) {
					t.Errorf("%s: got %s, error %v", name, clean.Text, err)
				}
			}
		}
	}
}

// Changed values in inner objects get the mask "(masked, changed)", as in the object itself.
// Invariant: I15.
func TestInnerCopiesAreMaskedForGuests(t *testing.T) {
	for name, template := range templates() {
		group, resource := kindOf(name)
		mask := redact.NewGuestMask(group, resource)
		objectWith := func(value string) []byte {
			return fmt.Appendf(
				nil, template,
				`{"name":"in","annotations":{"a":`+value+`,"b":"plain","n":7,"o":null},"labels":{"a":"{}"}}`,
			)
		}
		for _, value := range []string{
			`"{\"x\":\"c4n4ry\"}"`, `{"x":"c4n4ry"}`, `["c4n4ry"]`, `"eJyrVspLzE1VslIqTi4uzs9TqgUAO0EGcA=="`,
		} {
			text, err := mask.Object(nil, objectWith(value))
			if err != nil || string(text) != string(objectWith(`"(masked)"`)) {
				t.Errorf("%s: value %s: got %s, error %v", name, value, text, err)
			}
			text, err = mask.After(nil, objectWith(`"{\"x\":\"before\"}"`), objectWith(value))
			if err != nil || string(text) != string(objectWith(`"(masked, changed)"`)) {
				t.Errorf("%s: change to %s: got %s, error %v", name, value, text, err)
			}
		}
	}
}

// For guests, a member "annotations" that is not a map of strings is masked. Schemas in CRDs may have such a member.
// Invariant: I15.
func TestInnerAnnotationsOfAnotherType(t *testing.T) {
	for in, want := range map[string]string{
		`{"spec":{"annotations":"{\"x\":\"c4n4ry\"}"}}`: `{"spec":{"annotations":"(masked)"}}`,
		`{"spec":{"annotations":["c4n4ry"]}}`:           `{"spec":{"annotations":"(masked)"}}`,
		`{"spec":{"annotations":"plain","x":{"annotations":7}}}`: `{"spec":{"annotations":"plain",` +
			`"x":{"annotations":7}}}`,
		`{"spec":{"secretTemplate":{"annotations":{"a":"eyJhIjoi"}}}}`: `{"spec":` +
			`{"secretTemplate":{"annotations":{"a":"(masked)"}}}}`,
		`{"spec":[{"annotations":{"annotations":{"a":"{\"c4n4ry\"}"}}}]}`: `{"spec":` +
			`[{"annotations":{"annotations":"(masked)"}}]}`,
	} {
		t.Run(in, func(t *testing.T) {
			text, err := redact.NewGuestMask("example.com", "databases").Object(nil, []byte(in))
			if err != nil || string(text) != want {
				t.Errorf("got %s, error %v\nwant %s", text, err, want)
			}
		})
	}
	const definition = `{"metadata":{"annotations":{"a":%s}},` +
		`"spec":{"properties":{"annotations":{"additionalProperties":{"type":"string"}},` +
		`"managedFields":{"type":"array"}}}}`
	text, err := redact.NewGuestMask(
		"apiextensions.k8s.io", "customresourcedefinitions",
	).Object(nil, fmt.Appendf(nil, definition, `"{}"`))
	if want := fmt.Sprintf(definition, `"(masked)"`); err != nil || string(text) != want {
		t.Errorf("got %s, error %v", text, err)
	}
}

// MayMask returns true for annotations. Guests (viewers of share links) therefore cannot select by annotations.
func TestGuestRulesMayMaskAnnotations(t *testing.T) {
	for path, want := range map[string]bool{
		"metadata.annotations.a": true, "spec.template.metadata.annotations.a": true,
		"spec.secretTemplate.annotations": true,
		"metadata.name":                   false, "spec.replicas": false, "metadata.labels.a": false,
	} {
		t.Run(path, func(t *testing.T) {
			if got := redact.GuestRules().MayMask("example.com", "databases", strings.Split(path, ".")); got != want {
				t.Errorf("got %t, want %t", got, want)
			}
		})
	}
}

// Invariant: I17.
func TestDeepObjectsAreLinear(t *testing.T) {
	timeToRedact := func(levels int) time.Duration {
		text := strings.Repeat(`{"a":[`, levels) + `{"annotations":{"kapp.k14s.io/original":"c4n4ry"}}` +
			strings.Repeat(`]}`, levels)
		object := fmt.Appendf(nil, `{"metadata":{},"spec":%s}`, text)
		best := time.Hour
		for range 20 { // The shortest of several runs has no delays by other programs.
			start := time.Now()
			clean, err := redact.New(nil, "example.com", "databases").Object(nil, object)
			best = min(best, time.Since(start))
			if err != nil || strings.Contains(string(clean.Text), canary) {
				t.Fatalf("got %.100s, error %v", clean.Text, err)
			}
		}
		return best
	}
	// For 40 times as many levels, a linear algorithm takes 40 times as long, and a quadratic one 1,600 times.
	if short, long := timeToRedact(100), timeToRedact(4000); long > 600*short {
		t.Errorf("100 levels take %v, 4000 levels take %v; want at most 600 times", short, long)
	}
}
