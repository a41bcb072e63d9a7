package redact_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

const canary = "c4n4ry"

// Invariant: I15. The program does not store the values that it masks. No text, cell or error contains these values.
// The program refuses field selectors on masked fields. For guests of share links, the program also masks the values
// of ConfigMaps and environment variables, and each annotation that may contain a copy of an object. It masks such
// annotations also in templates and other objects inside an object.
func TestSensitiveValuesAreMasked(t *testing.T) {
	tests := map[string]struct{ group, resource, in, want, managed string }{
		"managedFields and last-applied are removed": {
			"apps", "deployments",
			`{"kind":"Deployment","metadata":{"managedFields":[{"manager":"m"}],"name":"a",` +
				`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"x\":\"c4n4ry\"}","b":"c"}},` +
				`"spec":{"x":[1, 2]}}`,
			`{"kind":"Deployment","metadata":{"name":"a","annotations":{"b":"c"}},"spec":{"x":[1, 2]}}`,
			`[{"manager":"m"}]`,
		},
		"escaped key": {
			"", "configmaps",
			`{"metadata":{"name":"a","managed\u0046ields":["c4n4ry"],` +
				`"annotations":{"kubectl.kubernetes.io\/last-applied-configuration":"c4n4ry"}}}`,
			`{"metadata":{"name":"a","annotations":{}}}`,
			`["c4n4ry"]`,
		},
		"only the values of a Secret are masked": {
			"", "secrets",
			`{"metadata":{"uid":"u"},"type":"Opaque","data":{"password":"c4n4ry","n":7},` +
				`"stringData":{"token":["c4n4ry"]}}`,
			`{"metadata":{"uid":"u"},"type":"Opaque","data":{"password":"(masked)","n":"(masked)"},` +
				`"stringData":{"token":"(masked)"}}`,
			"",
		},
		"Secret data of another type is masked completely": {
			"", "secrets",
			`{"metadata":{"uid":"u"},"data":"c4n4ry","stringData":["c4n4ry"]}`,
			`{"metadata":{"uid":"u"},"data":"(masked)","stringData":"(masked)"}`,
			"",
		},
		"null data is kept": {"", "secrets", `{"metadata":{},"data":null}`, `{"metadata":{},"data":null}`, ""},
		"secrets of another group are not masked": {
			"vault.example.com", "secrets", `{"metadata":{},"data":{"a":1}}`, `{"metadata":{},"data":{"a":1}}`, "",
		},
		"metadata of another type is removed": {
			"", "pods", `{"metadata":"c4n4ry","x":1}`, `{"metadata":null,"x":1}`, "",
		},
		"copies of other tools are removed": {
			"apps", "deployments",
			`{"metadata":{"annotations":{"kapp.k14s.io/original":"{\"x\":\"c4n4ry\"}",` +
				`"objectset.rio.cattle.io/applied":"H4sIc4n4ry","app.oam.dev/last-applied-configuration":"c4n4ry",` +
				`"banzaicloud.com/last-applied":"c4n4ry","openshift.io/encoded-deployment-config":"c4n4ry",` +
				`"example.com/last-applied-by":"me","last-applied":"you"}}}`,
			`{"metadata":{"annotations":{"example.com/last-applied-by":"me","last-applied":"you"}}}`,
			"",
		},
		"annotations of a Secret are masked except harmless ones": {
			"", "secrets",
			`{"metadata":{"uid":"u","annotations":{"a":" {\"x\":\"c4n4ry\"}","b":"c4n4ry","h":"true","i":null,` +
				`"helm.sh\/resource-policy":"keep","kapp.k14s.io/original":"c4n4ry"}}}`,
			`{"metadata":{"uid":"u","annotations":{"a":"(masked)","b":"(masked)","h":"(masked)","i":null,` +
				`"helm.sh/resource-policy":"keep"}}}`,
			"",
		},
		"annotations of other kinds are not masked": {
			"", "pods", `{"metadata":{"annotations":{"a":"{\"x\":1}"}}}`,
			`{"metadata":{"annotations":{"a":"{\"x\":1}"}}}`, "",
		},
		"annotations of another type are removed": {
			"", "pods", `{"metadata":{"annotations":["c4n4ry"]}}`, `{"metadata":{"annotations":null}}`, "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			clean, err := redact.New(nil, test.group, test.resource).Object(nil, []byte(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(clean.Text) != test.want {
				t.Errorf("got  %s\nwant %s", clean.Text, test.want)
			}
			if string(clean.Managed) != test.managed {
				t.Errorf("managed: got %s, want %s", clean.Managed, test.managed)
			}
		})
	}
}

// Invariant: I16. If a masked value changes, the text in its place (the mask) also changes. Masks do not reveal whether
// the values of two objects are equal.
func TestMaskShowsOnlyThatAValueChanged(t *testing.T) {
	r := redact.New(nil, "", "secrets")
	maskOf := func(uid, value string) string {
		clean, err := r.Object(nil, []byte(`{"metadata":{"uid":"`+uid+`"},"data":{"k":"`+value+`"}}`))
		if err != nil {
			t.Fatal(err)
		}
		var o struct{ Data map[string]string }
		if err := json.Unmarshal(clean.Text, &o); err != nil {
			t.Fatal(err)
		}
		return o.Data["k"]
	}
	got := []string{
		maskOf("u", "A"),
		maskOf("u", "A"),
		maskOf("u", "B"),
		maskOf("u", "A"),
		maskOf("v", "A"),
		maskOf("v", "B"),
	}
	want := []string{
		"(masked)", "(masked)", "(masked, change 1)", "(masked, change 2)", "(masked)", "(masked, change 1)",
	}
	if strings.Join(got, ";") != strings.Join(want, ";") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	r.Deleted("u", "", "")
	r.BeginList()
	repeated := maskOf("u", "A")
	r.EndList()
	if repeated != "(masked)" || maskOf("v", "C") != "(masked)" {
		t.Error("changes of a forgotten object are still counted")
	}
}

// Invariant: I15.
func FuzzMaskedValuesAreNeverReturned(f *testing.F) {
	f.Add([]byte(`{"a":"c4n4ry"}`), []byte(`{"b":1}`))
	f.Add([]byte(`"c4n4ry"`), []byte(`[`))
	f.Add([]byte(`{"x":{"y":"c4n4ry"}}`), []byte(`null`))
	f.Add([]byte(`"c4n4ry"`), []byte(`{"template":{"metadata":{"annotations":{"a":"b"},"managedFields":[]}}}`))
	f.Fuzz(func(t *testing.T, data, other []byte) {
		if strings.Contains(string(other), canary) {
			t.Skip("the canary must be in the masked values")
		}
		// Keys of masked values are not masked, so they can contain the canary (the secret test text).
		var keys map[string]json.RawMessage
		if json.Unmarshal(data, &keys) == nil {
			for key := range keys {
				if strings.Contains(key, canary) {
					t.Skip("the canary is a key")
				}
			}
		}
		in := fmt.Appendf(
			nil,
			`{"metadata":{"uid":"u","annotations":{"a":%s}},"data":%s,"spec":%s,`+
				`"template":{"metadata":{"managedFields":%s,"annotations":{"kapp.k14s.io/original":%s}}}}`,
			data, data, other, data, data,
		)
		clean, err := redact.New(nil, "", "secrets").Object(nil, in)
		if err != nil {
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the error contains the value: %v", err)
			}
			return
		}
		if json.Valid(in) != json.Valid(clean.Text) {
			t.Errorf("validity of the JSON differs: input %q, output %q", in, clean.Text)
		}
		if json.Valid(data) && strings.Contains(string(clean.Text), canary) {
			t.Errorf("got the canary in %s", clean.Text)
		}
	})
}

// If redactors share a Memory, the change number in the mask of a value counts the changes that any of them detects.
func TestMemoryIsSharedByRedactors(t *testing.T) {
	memory := redact.NewMemory()
	maskOf := func(r *redact.Redactor, namespace, value string) string {
		clean, err := r.Object(
			nil,
			[]byte(`{"metadata":{"uid":"u`+namespace+`","namespace":"`+namespace+`"},"data":{"k":"`+value+`"}}`),
		)
		if err != nil {
			t.Fatal(err)
		}
		var o struct{ Data map[string]string }
		if err := json.Unmarshal(clean.Text, &o); err != nil {
			t.Fatal(err)
		}
		return o.Data["k"]
	}
	allNamespaces := memory.Redactor(nil, "", "secrets", "")
	got := []string{maskOf(allNamespaces, "a", "A"), maskOf(allNamespaces, "b", "A"), maskOf(allNamespaces, "c", "A")}
	namespaceA, namespaceB := memory.Redactor(nil, "", "secrets", "a"), memory.Redactor(nil, "", "secrets", "b")
	namespaceA.BeginList()
	namespaceB.BeginList()
	got = append(got, maskOf(namespaceA, "a", "B"))
	// The end of a list removes only objects of the list's namespace from the Memory.
	namespaceB.EndList()
	namespaceA.EndList()
	memory.Forget(func(namespace string) bool { return namespace == "c" })
	got = append(got, maskOf(allNamespaces, "a", "C"), maskOf(allNamespaces, "b", "B"), maskOf(allNamespaces, "c", "B"))
	want := []string{
		"(masked)", "(masked)", "(masked)", "(masked, change 1)", "(masked, change 2)", "(masked)", "(masked)",
	}
	if strings.Join(got, ";") != strings.Join(want, ";") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestDigestsOfRemovedKeysAreBounded(t *testing.T) {
	r := redact.New(nil, "", "secrets")
	redactedText := func(key, value string) string {
		clean, err := r.Object(nil, []byte(`{"metadata":{"uid":"u"},"data":{"`+key+`":"`+value+`"}}`))
		if err != nil {
			t.Fatal(err)
		}
		return string(clean.Text)
	}
	redactedText("first", "A")
	redactedText("other", "A")
	if got := redactedText("first", "B"); !strings.Contains(got, "change 1") {
		t.Errorf("key added again with another value: got %s, want change 1", got)
	}
	for n := range 100 {
		redactedText(fmt.Sprint("key-", n), "A")
	}
	if got := redactedText("first", "C"); strings.Contains(got, "change") {
		t.Errorf("key removed 100 keys ago: got %s, want no change number", got)
	}
}

// An object with many new keys takes about as long to redact as an object whose keys the Redactor has seen before.
func TestNewKeysAreRedactedAsFastAsKnownKeys(t *testing.T) {
	const values = 50_000
	r := redact.New(nil, "", "secrets")
	secret := func(prefix string) []byte {
		text := []byte(`{"metadata":{"uid":"1"},"data":{`)
		for n := range values {
			text = fmt.Appendf(text, `"%s%d":"",`, prefix, n)
		}
		return append(text, `"last":""}}`...)
	}
	timeToRedact := func(text []byte) time.Duration {
		start := time.Now()
		if _, err := r.Object(nil, text); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	sameKeys := max(timeToRedact(secret("a")), timeToRedact(secret("a")))
	// Use the shortest of several runs, because other programs can delay a single run.
	newKeys := min(timeToRedact(secret("b")), timeToRedact(secret("c")), timeToRedact(secret("d")))
	if newKeys > 10*sameKeys {
		t.Errorf("%d new keys took %v, the same keys %v; want at most 10 times", values, newKeys, sameKeys)
	}
}

// The Weight of a Memory is close to its heap use. A Memory without objects has the Weight zero.
func TestWeightIsCloseToHeapUse(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, values := range []int{1, 10} {
		t.Run(fmt.Sprint(values, " values"), func(t *testing.T) {
			memory := redact.NewMemory()
			r := memory.Redactor(nil, "", "secrets", "")
			before := heap()
			for n := range 5000 {
				var data []string
				for v := range values {
					data = append(data, fmt.Sprintf(`"key-%d":"c2VjcmV0"`, v))
				}
				raw := fmt.Sprintf(
					`{"metadata":{"uid":"11111111-2222-3333-4444-%012d","namespace":"a"},"data":{%s}}`, n,
					strings.Join(data, ","),
				)
				if _, err := r.Object(nil, []byte(raw)); err != nil {
					t.Fatal(err)
				}
			}
			used, weight := heap()-before, memory.Weight()
			if weight < used*2/3 || weight > used*3/2 {
				t.Errorf("5000 Secrets with %d values each: accounted as %d bytes, but use %d", values, weight, used)
			}
			r.Deleted("11111111-2222-3333-4444-000000000000", "", "")
			if memory.Weight() >= weight {
				t.Error("a deleted Secret is still accounted")
			}
			memory.Forget(func(string) bool { return true })
			if remaining := memory.Weight(); remaining != 0 {
				t.Errorf("after Forget: got a weight of %d bytes, want 0", remaining)
			}
			runtime.KeepAlive(r)
		})
	}
}

// managedFields identify list elements by content, so managedFields that contain a masked value are dropped.
// Invariant: I15.
func TestManagedFieldsRevealNoMaskedValue(t *testing.T) {
	rules := rulesOf(
		t, "env", "example.com/v1/databases:spec.tokens[*]", "example.com/v1/databases:spec.users[*].name",
		"example.com/v1/databases:spec.list", "example.com/v1/databases:spec.pins[*]",
	)
	const template = `{"metadata":{"uid":"u","managedFields":[{"manager":"m","fieldsV1":{"f:spec":%s}}]},` +
		`"spec":{"tokens":["c4n4ry","two"],"users":[{"name":"c4n4ry"}],"list":[{"id":7,"deep":{"key":"c4n4ry"}}],` +
		`"pins":[4711],"env":[{"name":"A","value":"web"}]}}`
	for fields, wantKept := range map[string]bool{
		`{"f:tokens":{".":{},"v:\"c4n4ry\"":{}}}`:          false,
		`{"f:tokens":{"v:\"c4n\\u0034ry\"":{}}}`:           false,
		`{"f:users":{"k:{\"name\":\"c4n4ry\"}":{".":{}}}}`: false,
		// These managedFields are kept: the rule masks only the member "name", not "other".
		`{"f:users":{"k:{\"name\":\"b\",\"other\":\"c4n4ry\"}":{}}}`: true,
		`{"f:list":{"k:{\"key\":\"c4n4ry\"}":{}}}`:                   false,
		`{"f:list":{"k:{\"id\":7}":{}}}`:                             false,
		`{"f:pins":{"v:4711":{}}}`:                                   false,
		`{"f:pins":{"v:\"4711\"":{}}}`:                               true,
		`{"f:pins":{"k:{":{}}}`:                                      false,
		// These managedFields are kept: a variable's value "web" is masked, but not the name "web" of a container.
		`{"f:containers":{"k:{\"name\":\"web\"}":{"f:image":{}}}}`:           true,
		`{"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}`: true,
	} {
		t.Run(fields, func(t *testing.T) {
			clean, err := redact.New(rules, "example.com", "databases").Object(nil, fmt.Appendf(nil, template, fields))
			if err != nil {
				t.Fatal(err)
			}
			if wantKept != (clean.Managed != nil) || strings.Contains(string(clean.Text), canary) {
				t.Errorf("got managedFields %s, object %s, want managedFields kept: %t", clean.Managed, clean.Text, wantKept)
			}
		})
	}
}
