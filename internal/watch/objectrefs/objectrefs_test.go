package objectrefs_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

func fixture(tb testing.TB, path string) (object []byte, want []string) {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	members := map[string]any{}
	if err := yaml.Unmarshal(text, &members); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	list, ok := members["want"].([]any)
	if !ok {
		tb.Fatalf("%s has no member want", path)
	}
	for _, line := range list {
		want = append(want, fmt.Sprint(line))
	}
	delete(members, "want")
	object, err = json.Marshal(members)
	if err != nil {
		tb.Fatal(err)
	}
	return object, want
}

func fixtures(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(paths) < 20 {
		tb.Fatalf("got %d fixtures, error %v, want at least 20", len(paths), err)
	}
	return paths
}

func lines(o *objectrefs.Object) (out []string) {
	for _, r := range o.Owners {
		out = append(out, fmt.Sprintf("owner %s/%s %s %s %s via %s", r.Group, r.Version, r.Kind, r.Name, r.UID, r.Via))
	}
	for _, r := range o.Uses {
		kind := r.Group + "/" + r.Kind
		if r.Version != "" {
			kind = r.Group + "/" + r.Version + "/" + r.Kind
		}
		out = append(out, fmt.Sprintf("%s %s via %s", kind, strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"), r.Via))
	}
	if o.Selects != nil {
		out = append(out, fmt.Sprintf("selects %s via %s", o.Selects, o.Selects.Via))
	}
	return out
}

// Invariant: I27. To find related objects, the program reads the references in the JSON of objects. The number of nodes
// in a graph of related objects is limited. The graph shows which resources the program could not search. The program
// requests no object that the user has no permission to read.
func TestReferencesMatchTheFixtures(t *testing.T) {
	for _, path := range fixtures(t) {
		text, want := fixture(t, path)
		o := objectrefs.Of(text)
		got := lines(&o)
		if !slices.Equal(sorted(got), sorted(want)) {
			t.Errorf("%s: got\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if !slices.Equal(objectrefs.Owners(text), o.Owners) {
			t.Errorf("%s: Owners: got %v, want the owners of Of", path, objectrefs.Owners(text))
		}
		if o.Name == "" || o.Kind == "" || o.UID == "" {
			t.Errorf("%s: incomplete reference of the object itself: %+v", path, o.Ref)
		}
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// Invariant: I27.
func TestSelectorsMatchLikeKubernetes(t *testing.T) {
	selector := func(kind, spec string) *objectrefs.Selector {
		group, kind, _ := strings.Cut(kind, "/")
		o := objectrefs.Of(
			fmt.Appendf(
				nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"},"spec":%s}`,
				strings.TrimPrefix(group+"/v1", "/"), kind, spec,
			),
		)
		return o.Selects
	}
	web := map[string]string{"app": "web", "tier": "a"}
	for _, test := range []struct {
		kind, spec string
		want       bool
	}{
		{"/Service", `{"selector":{"app":"web"}}`, true},
		{"/Service", `{"selector":{"app":"web","tier":"b"}}`, false},
		{"/Service", `{"selector":{}}`, false},
		{"/Service", `{}`, false},
		{
			"apps/Deployment",
			`{"selector":{"matchExpressions":[{"key":"tier","operator":"NotIn","values":["b"]}]}}`, true,
		},
		{
			"apps/Deployment",
			`{"selector":{"matchExpressions":[{"key":"tier","operator":"Near","values":["b"]}]}}`, false,
		},
		// A LabelSelector has no member named app, so this selector is empty and selects all pods.
		{"apps/Deployment", `{"selector":{"app":"web"}}`, true},
		{"policy/PodDisruptionBudget", `{"selector":{}}`, true},
		{"policy/PodDisruptionBudget", `{"selector":null}`, false},
		{"policy/PodDisruptionBudget", `{}`, false},
		{"networking.k8s.io/NetworkPolicy", `{"podSelector":{}}`, true},
		{"example.com/Service", `{"selector":{"app":"web"}}`, false},
	} {
		t.Run(test.kind, func(t *testing.T) {
			s := selector(test.kind, test.spec)
			if got := s != nil && s.Matches(web); got != test.want {
				t.Errorf("%s %s: Matches: got %t, want %t", test.kind, test.spec, got, test.want)
			}
		})
	}
}

// Invariant: I27.
func TestMalformedObjectsHaveNoReferences(t *testing.T) {
	text, _ := fixture(t, "testdata/pod.yaml")
	for n := range text {
		if o := objectrefs.Of(text[:n]); len(lines(&o)) > 0 {
			t.Fatalf("first %d bytes of a pod: got references %v, want none", n, lines(&o))
		}
	}
	for _, text := range []string{
		"", "null", "[]", `"pod"`, "1", `{"kind":1,"apiVersion":[],"metadata":"x","spec":7}`,
		`{"metadata":{"ownerReferences":{"name":"a"}}}`,
		`{"metadata":{"ownerReferences":["a",{"kind":"A"},{"kind":"A","name":"a"}]}}`,
		`{"spec":{"secretName":1,"configMapRef":"a","subjects":[1,{"kind":{}}]}}`,
		`{"kind":"Service","apiVersion":"v1","spec":{"selector":[1]}}`, `{"spec":{"secretName":""}}`,
		string(text) + "x",
	} {
		t.Run(fmt.Sprintf("%.80s", cmp.Or(text, "empty")), func(t *testing.T) {
			if o := objectrefs.Of([]byte(text)); len(lines(&o)) > 0 {
				t.Errorf("got references %v, want none", lines(&o))
			}
		})
	}
}

func FuzzReferencesOfArbitraryObject(f *testing.F) {
	for _, path := range fixtures(f) {
		text, _ := fixture(f, path)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o := objectrefs.Of(text)
		owners := objectrefs.Owners(text)
		if !json.Valid(text) {
			if len(lines(&o)) > 0 {
				t.Errorf("invalid JSON %q: got references %v, want none", text, lines(&o))
			}
			return
		}
		if !slices.Equal(owners, o.Owners) && bytes.Count(text, []byte(`metadata`)) < 2 &&
			!bytes.Contains(text, []byte(`\u`)) {
			t.Errorf("%q: Owners got %v, Of got %v", text, owners, o.Owners)
		}
		for _, r := range o.Uses {
			if r.Name == "" || r.Kind == "" {
				t.Errorf("%q: got an incomplete reference %+v", text, r)
			}
		}
	})
}

func BenchmarkReferencesOfPod(b *testing.B) {
	text, _ := fixture(b, "testdata/pod.yaml")
	b.Run("complete", func(b *testing.B) {
		for b.Loop() {
			objectrefs.Of(text)
		}
	})
	b.Run("owners", func(b *testing.B) {
		for b.Loop() {
			objectrefs.Owners(text)
		}
	})
}
