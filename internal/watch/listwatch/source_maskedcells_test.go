package listwatch_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

func newMaskingSource(
	t *testing.T, server *apitest.Server, ref string, metadata bool, rules ...string,
) *listwatch.Source {
	t.Helper()
	return newScopedSource(t, server, ref, listwatch.Scope{Metadata: metadata}, rules...)
}

func newScopedSource(
	t *testing.T, server *apitest.Server, ref string, scope listwatch.Scope, rules ...string,
) *listwatch.Source {
	t.Helper()
	var all redact.Rules
	for _, text := range rules {
		parsed, err := redact.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parsed...)
	}
	parts := strings.Split(strings.TrimPrefix(ref, "core"), "/")
	scope.Resource = schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
	client := listwatch.NewClient(server.Config, listwatch.ClientOptions{Redact: all})
	s, err := client.Source(scope, listwatch.SourceOptions{
		Stall: 1 << 40, Observe: func(int, int64) {},
		Panicked: func(v any, _ []byte) { t.Errorf("unexpected panic: %v", v) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Invariant: I15.
func TestCellsOfMaskedValues(t *testing.T) {
	const databases = "example.com/v1/databases"
	columnShowing := func(path string) string {
		return `{"name":"X","type":"string","description":"Custom resource definition column (in JSONPath format): ` +
			path + `"}`
	}
	const password, spec = "example.com/v1/databases:spec.password", `"spec":{"password":"CANARY",` +
		`"users":[{"name":"a","password":"CANARY"}]}`
	tests := []struct {
		name, ref, rule string
		column          string
		paths           map[string]string
		rest            string
		masked          bool
	}{
		{name: "exact path", column: columnShowing(".spec.password"), rule: password, rest: spec, masked: true},
		{name: "parent of the path", column: columnShowing(".spec"), rule: password, rest: spec, masked: true},
		{
			name: "child of the path", column: columnShowing(".spec.users[0].password"), rule: "*:spec.users", rest: spec,
			masked: true,
		},
		{
			name: "an element of a list", column: columnShowing(".spec.users[0].password"),
			rule: "*:spec.users[*].password", rest: spec, masked: true,
		},
		{
			name: "JSONPath filter", column: columnShowing(`.spec.users[?(@.name==\"a\")].password`), rule: "*:spec..password",
			rest: spec, masked: true,
		},
		{name: "path at any depth", column: columnShowing(".spec..password"), rule: password, rest: spec, masked: true},
		{name: "another path", column: columnShowing(".status.phase"), rule: password, rest: spec},
		{name: "path with a longer name", column: columnShowing(".spec.passwords"), rule: password, rest: spec},
		{name: "object without the field", column: columnShowing(".spec.password"), rule: password, rest: `"spec":{}`},
		{name: "rule for another field", column: columnShowing(".spec.password"), rule: "*:spec.other", rest: spec},
		{
			name: "column without a path", column: `{"name":"X","type":"string","description":"Of it."}`, rule: password,
			rest: spec, masked: true,
		},
		{
			name: "path from the CRD", column: `{"name":"X","type":"string","description":"Of it."}`,
			paths: map[string]string{"X": ".status.phase"}, rule: password, rest: spec,
		},
		{
			name: "path from the CRD, another path in the description", column: columnShowing(".status.phase"),
			paths: map[string]string{"X": ".spec.password"}, rule: password, rest: spec, masked: true,
		},
		{
			name: "CRD with another path", column: columnShowing(".status.phase"),
			paths: map[string]string{"Y": ".status.phase"}, rule: password, rest: spec, masked: true,
		},
		{
			name: "an annotation", column: columnShowing(`.metadata.annotations.example\\.com/token`),
			rule: `*:metadata.annotations["example.com/token"]`, rest: `"x":1`, masked: true,
		},
		{
			name: "environment variables of a built-in kind", ref: "core/v1/pods", column: `{"name":"X","type":"string"}`,
			rule: "env", rest: `"spec":{"containers":[{"env":[{"name":"A","value":"CANARY"}]}]}`,
		},
		{
			name: "annotations of a built-in kind", ref: "core/v1/pods", column: `{"name":"X","type":"string"}`,
			rule: `*:metadata.annotations["example.com/token"]`, rest: `"x":1`,
		},
		{
			name: "other column of a built-in kind", ref: "core/v1/pods", column: `{"name":"X","type":"string"}`,
			rule: "*:spec.nodeName", rest: `"spec":{"nodeName":"CANARY"}`, masked: true,
		},
		{
			name: "label with the name of a masked field", ref: "apps/v1/deployments",
			column: `{"name":"X","type":"string"}`, rule: "*:spec.selector.matchLabels.*",
			rest: `"spec":{"selector":{"matchLabels":{"env":"CANARY"}}}`, masked: true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.ref == "" {
				test.ref = databases
			}
			server := apitest.New(
				t,
				apitest.Kind{
					Ref: test.ref, Kind: "Thing",
					Columns: `[{"name":"Name","type":"string","format":"name"},` + test.column +
						`,{"name":"Age","type":"date"}]`,
				},
			)
			server.Set(test.ref, apitest.Item{
				Namespace: "a", Name: "it", Metadata: `"creationTimestamp":"2026-11-21T09:59:58Z",` +
					`"annotations":{"example.com/token":"CANARY"}`,
				Rest: test.rest, Cells: `["it","SHOWN","5m"]`,
			})
			for _, watched := range []bool{false, true} {
				s := newMaskingSource(t, server, test.ref, false, test.rule)
				s.SetPrinterColumns(printer.CRDColumns{Paths: test.paths})
				var o *compact.Object
				if watched {
					o = objectOf(t, nextEvent(t, openWatch(t, s, metav1.ListOptions{ResourceVersion: "1"})))
				} else {
					o = listAll(t, s)[0]
				}
				want := `["it","SHOWN","2026-11-21T09:59:58Z"]`
				if test.masked {
					want = `["it","(masked)","2026-11-21T09:59:58Z"]`
				}
				if got := string(o.Cells()); got != want {
					t.Errorf("watched %t: got cells %s, want %s", watched, got, want)
				}
			}
		})
	}
}

// A cell that shows an annotation is masked for every viewer, if the program drops this annotation from the object.
// Invariant: I15.
func TestCellsOfDroppedAnnotations(t *testing.T) {
	const rollouts = "argoproj.io/v1alpha1/rollouts"
	const annotations = `"annotations":{"example.com/copy":"{\"x\":\"CANARY\"}","example.com/owner":"me",` +
		`"kapp.k14s.io/original":"CANARY"}`
	for _, annotationsPath := range []string{".metadata.annotations", ".spec.template.metadata.annotations"} {
		// For guests (viewers of a share link), cells that can contain a copy of an object are masked, too.
		for column, want := range map[string]struct{ viewer, guest bool }{
			annotationsPath: {false, false},
			annotationsPath + `.kapp\\.k14s\\.io/original`:      {false, false},
			annotationsPath + `.example\\.com/copy`:             {true, false},
			annotationsPath + `.example\\.com/owner`:            {true, true},
			annotationsPath + `['example.com/owner']`:           {false, false}, // A path with [..] counts as all annotations.
			strings.TrimSuffix(annotationsPath, "s"):            {true, true},
			strings.TrimSuffix(annotationsPath, ".annotations"): {false, false},
		} {
			t.Run(column, func(t *testing.T) {
				server := apitest.New(
					t,
					apitest.Kind{
						Ref: rollouts, Kind: "Rollout",
						Columns: `[` + nameColumn + `,{"name":"X","type":"string","description":"Custom resource ` +
							`definition column (in JSONPath format): ` + column + `"}]`,
					},
				)
				server.Set(rollouts, apitest.Item{
					Namespace: "a", Name: "it", Metadata: annotations,
					Rest: `"spec":{"template":{"metadata":{` + annotations + `}}}`, Cells: `["it","SHOWN"]`,
				})
				for shared, wantShown := range map[bool]bool{false: want.viewer, true: want.guest} {
					s := newScopedSource(t, server, rollouts, listwatch.Scope{GuestMasked: shared})
					if got := string(listAll(t, s)[0].Cells()); strings.Contains(got, "SHOWN") != wantShown {
						t.Errorf("guest %t: got cells %s, want shown: %t", shared, got, wantShown)
					}
				}
			})
		}
	}
}

// Invariant: I15.
func TestEverySourceIsMasked(t *testing.T) {
	const metadataJSON = `"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"CANARY",` +
		`"example.com/token":"CANARY"},"managedFields":[{"manager":"CANARY","fieldsV1":{"v:CANARY":{}}}]`
	for _, ref := range []string{
		"core/v1/pods", "core/v1/secrets", "core/v1/configmaps", "apps/v1/deployments", "example.com/v1/databases",
	} {
		for _, columns := range []string{"", "[" + nameColumn + "]"} {
			for _, metadata := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, with columns %t, metadata only %t", ref, columns != "", metadata), func(t *testing.T) {
					server := apitest.New(t, apitest.Kind{Ref: ref, Kind: "Thing", Columns: columns})
					item := apitest.Item{Namespace: "a", Name: "it", Metadata: metadataJSON}
					if !metadata {
						item.Rest = `"secret":"CANARY","spec":{"template":{"metadata":{` +
							strings.ReplaceAll(metadataJSON, "example.com/token", "example.com/last-applied") + `}}}`
					}
					server.Set(ref, item)
					rules := []string{`*:metadata.annotations["example.com/token"]`, "*:secret"}
					objects := listAll(t, newMaskingSource(t, server, ref, metadata, rules...))
					objects = append(
						objects,
						objectOf(
							t, nextEvent(t, openWatch(t, newMaskingSource(t, server, ref, metadata, rules...), streamingListOptions())),
						),
					)
					objects = append(objects, objectOf(t, nextEvent(t, openWatch(
						t, newMaskingSource(t, server, ref, metadata, rules...), metav1.ListOptions{ResourceVersion: "1"},
					))))
					for n, o := range objects {
						text, err := o.JSON()
						if err != nil {
							t.Fatal(err)
						}
						if all := string(text) + string(o.AppendRow(nil, true)); strings.Contains(all, "CANARY") ||
							!strings.Contains(all, `"example.com/token":"(masked)"`) {
							t.Errorf("source %d: got %s, want a mask", n, all)
						}
					}
				})
			}
		}
	}
}
