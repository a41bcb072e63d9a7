package watch_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

func copyAnnotation(value string) string {
	text := fmt.Sprintf(`{"data":{"k":%q}}`, value)
	return fmt.Sprintf(`"annotations":{"example.com/copy":%q}`, text)
}

// sensitiveObjects returns a function for each resource. The function returns the JSON of an object that contains the
// value in all places that are masked for viewers of share links.
func sensitiveObjects() map[string]func(value string) string {
	pod := func(v string) string {
		return fmt.Sprintf(`"spec":{"containers":[{"name":"c","env":[{"name":"A","value":%q}]}]}`, v)
	}
	template := func(v string) string {
		return fmt.Sprintf(`"template":{"metadata":{%s},%s}`, copyAnnotation(v), pod(v))
	}
	return map[string]func(string) string{
		"core/v1/secrets": func(v string) string { return fmt.Sprintf(`"data":{"k":%q}`, v) },
		"core/v1/configmaps": func(v string) string {
			return fmt.Sprintf(`"data":{"k":%q},"binaryData":{"b":%q}`, v, v)
		},
		pods: func(v string) string {
			return fmt.Sprintf(
				`"spec":{"containers":[{"name":"c","env":[{"name":"A","value":%q},{"name":"B",`+
					`"valueFrom":{"secretKeyRef":{"name":"it","key":"k"}}}],`+
					`"envFrom":[{"secretRef":{"name":"it"}}]}],"initContainers":[{"name":"i","env":[{"name":"A",`+
					`"value":%q}]}]}`,
				v, v,
			)
		},
		runs:                  func(v string) string { return pod(v)[:len(pod(v))-1] + "," + template(v) + "}" },
		"apps/v1/deployments": func(v string) string { return fmt.Sprintf(`"spec":{%s}`, template(v)) },
		"batch/v1/cronjobs": func(v string) string {
			return fmt.Sprintf(`"spec":{"jobTemplate":{"metadata":{%s},"spec":{%s}}}`, copyAnnotation(v), template(v))
		},
		"apps/v1/controllerrevisions": func(v string) string {
			return fmt.Sprintf(`"data":{"spec":{%s}}`, template(v))
		},
	}
}

// The cells of the columns Value and Copy contain sensitive values, which are masked for guests (viewers of share
// links).
const (
	runs       = "example.com/v1/runs"
	runColumns = `[{"name":"Name","type":"string","format":"name"}` +
		`,{"name":"Value","type":"string",` +
		`"description":"Custom resource definition column (in JSONPath format): .spec.containers[0].env[0].value"}` +
		`,{"name":"Mood","type":"string",` +
		`"description":"Custom resource definition column (in JSONPath format): .status.mood"}` +
		`,{"name":"Copy","type":"string",` +
		`"description":"Custom resource definition column (in JSONPath format): ` +
		`.spec.template.metadata.annotations.example\\.com/copy"}]`
)

func guest() watch.Viewer {
	scope := &watch.Scope{}
	for ref := range sensitiveObjects() {
		scope.Parts = append(scope.Parts, watch.Part{Resource: ref})
	}
	return watch.Viewer{Program: true, Scope: scope}
}

// readEverything sets an object to each of the values, one after the other. It returns all texts that the viewer
// receives about the object, and separately the patches of the view Object.
func readEverything(t *testing.T, viewer watch.Viewer, ref string, values ...string) (all string, patches []string) {
	t.Helper()
	server, cluster := serveCluster(t)
	switch ref {
	case pods:
	case runs:
		server.AddKind(apitest.Kind{Ref: ref, Kind: "Run", Columns: runColumns})
	default:
		server.AddKind(apitest.Kind{
			Ref: ref, Kind: "Thing", Columns: `[{"name":"Name","type":"string","format":"name"}]`,
		})
	}
	set := func(value string) {
		cells := `["it"]`
		if ref == runs {
			cells = fmt.Sprintf(`["it",%q,"calm",%q]`, value, value)
		}
		server.Set(
			ref,
			apitest.Item{
				Namespace: "a",
				Name:      "it",
				Cells:     cells,
				Metadata:  copyAnnotation(value),
				Rest:      sensitiveObjects()[ref](value),
			},
		)
	}
	set(values[0])
	advance(3 * time.Second)
	access := cluster.For(viewer)
	var messages strings.Builder
	window, err := query.NewWindow("", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	object := query.Query{Namespaces: []string{"a"}, Name: "it"}
	type subscription struct {
		view stream.View
		sub  *watch.Subscription
	}
	var subscriptions []subscription
	for _, r := range []struct {
		view stream.View
		q    query.Query
	}{
		{stream.Rows, query.Query{}},
		{stream.Table, query.Query{}},
		{stream.Windowed, query.Query{Window: window}},
		{stream.Object, object},
		{stream.Changes, object},
		{stream.Changes, query.Query{}},
	} {
		r.q.Resource = ref
		sub, err := access.Subscribe(t.Context(), r.q, r.view, "")
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		subscriptions = append(subscriptions, subscription{r.view, sub})
	}
	readSubscriptions := func() {
		for _, r := range subscriptions {
			for {
				m, err := r.sub.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				messages.Write(m)
				var decoded message
				if err := json.Unmarshal([]byte("{"+string(m)+"}"), &decoded); err != nil {
					t.Fatal(err)
				}
				for _, e := range decoded.Events {
					if r.view == stream.Object && e.Patch != nil {
						patches = append(patches, string(e.Patch))
					}
				}
				if decoded.Type == "heartbeat" {
					break
				}
			}
		}
	}
	read := func() {
		text, err := access.Object(t.Context(), ref, "a", "it")
		if err != nil {
			t.Fatal(err)
		}
		messages.Write(text)
		last, _, err := access.LastKnown(t.Context(), ref, "a", "it")
		if err != nil {
			t.Fatal(err)
		}
		messages.Write(last)
		snapshot, err := access.Snapshot(t.Context(), query.Query{Resource: ref}, time.Minute)
		if err != nil || len(snapshot.Objects) != 1 {
			t.Fatalf("Snapshot: got %d objects, error %v, want 1", len(snapshot.Objects), err)
		}
		text, err = snapshot.Objects[0].JSON()
		if err != nil {
			t.Fatal(err)
		}
		messages.Write(snapshot.Objects[0].AppendRow(text, true))
	}
	read()
	readSubscriptions()
	for _, value := range values[1:] {
		set(value)
		readSubscriptions()
		read()
	}
	lateSub, err := access.Subscribe(
		t.Context(), query.Query{Resource: ref, Namespaces: []string{"a"}, Name: "it"}, stream.Changes, "",
	)
	if err != nil {
		t.Fatal(err)
	}
	defer lateSub.Close()
	subscriptions = append(subscriptions, subscription{stream.Changes, lateSub})
	server.Delete(ref, "a", "it")
	readSubscriptions()
	set(values[0])
	readSubscriptions()
	server.Down(true)
	advance(10 * time.Second)
	last, _, err := access.LastKnown(t.Context(), ref, "a", "it")
	if err != nil {
		t.Fatal(err)
	}
	messages.Write(last)
	return messages.String(), patches
}

// In every view, guests (viewers of share links) get masks instead of sensitive values. A patch shows only that a value
// has changed.
// Invariant: I15.
func TestSharedTextsAreMasked(t *testing.T) {
	for ref := range sensitiveObjects() {
		t.Run(ref, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all, patches := readEverything(t, guest(), ref, "CANARY1", "CANARY2", "CANARY1")
				if strings.Contains(all, "CANARY") || !strings.Contains(all, `"(masked)"`) {
					t.Errorf("messages to a guest: want only masked values, got %s", all)
				}
				if len(patches) != 2 || strings.Count(strings.Join(patches, ""), "(masked, changed)") < 2 {
					t.Errorf("got patches %q, want two that show a change", patches)
				}
			})
		})
	}
}

// The program itself sees all values except those of Secrets. This proves that readEverything reads all places that can
// contain a value, so that the tests of masks miss none.
// Invariant: I15.
func TestProgramSeesUnmaskedTexts(t *testing.T) {
	for ref := range sensitiveObjects() {
		synctest.Test(t, func(t *testing.T) {
			all, patches := readEverything(t, watch.Viewer{Program: true}, ref, "CANARY1", "CANARY2", "CANARY1")
			if strings.Contains(all, "CANARY2") != (ref != secrets) || len(patches) != 2 {
				t.Errorf("%s: messages to a user with all permissions: got %s", ref, all)
			}
		})
	}
}

// A mask does not reveal that a value has changed back to an earlier value: the patch is the same as for a new value.
// Invariant: I16.
func TestSharedMasksAreUnlinkable(t *testing.T) {
	for ref := range sensitiveObjects() {
		var patchSets [][]string
		for _, values := range [][]string{
			{"A", "B", "A", "C"},
			{"A", "B", "C", "A"},
			{"D", "E", "F", "G"},
			{"long and other", "E", "long and other", "E"},
		} {
			synctest.Test(t, func(t *testing.T) {
				_, patches := readEverything(t, guest(), ref, values...)
				patchSets = append(patchSets, patches)
			})
		}
		for _, patches := range patchSets {
			if !slices.Equal(patches, patchSets[0]) {
				t.Errorf("%s: patches depend on the masked values: got %q and %q", ref, patches, patchSets[0])
			}
		}
	}
}

// Guests (viewers of share links) cannot deduce masked cells from the sort order, a search or a selector.
// Invariant: I15.
func TestSharedCellsAreMasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{Ref: runs, Kind: "Run", Columns: runColumns})
		for name, value := range map[string]string{"x": "CANARY2", "y": "CANARY1", "z": "CANARY3"} {
			server.Set(
				runs,
				apitest.Item{
					Namespace: "a",
					Name:      name,
					Cells:     fmt.Sprintf(`[%q,%q,"calm",%q]`, name, value, value),
					Rest:      sensitiveObjects()[runs](value),
				},
			)
		}
		own := subscribe(t, cluster, query.Query{Resource: runs}, "")
		own.settle()
		for viewer, want := range map[*watch.Viewer]struct{ all, found, sorted, cell string }{
			{Program: true}:                                        {"x y z", "x", "y x z", "CANARY2"},
			{Program: true, Scope: guest().Scope}:                  {"x y z", "", "x y z", "(masked)"},
			{User: &authz.User{Name: "ann"}, Scope: guest().Scope}: {"x y z", "", "x y z", "(masked)"},
		} {
			allow(server, "ann list runs *", "ann watch runs *", "ann get runs *")
			access := cluster.For(*viewer)
			names := func(q query.Query) string {
				t.Helper()
				q.Resource = runs
				snapshot, err := access.Snapshot(t.Context(), q, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, o := range snapshot.Objects {
					names = append(names, o.Name())
				}
				if len(names) == 3 && strings.Count(string(snapshot.Objects[0].Cells()), want.cell) != 2 {
					t.Errorf("%+v: got cells %s", viewer, snapshot.Objects[0].Cells())
				}
				return strings.Join(names, " ")
			}
			if all, found, byOther := names(query.Query{}), names(query.Query{Text: "canary2"}), names(query.Query{
				Text: "calm",
			}); all != want.all || found != want.found || byOther != want.all {
				t.Errorf("%+v: got rows %q, %q by the masked value, %q by another value", viewer, all, found, byOther)
			}
			window, err := query.NewWindow("Value", 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			sub, err := access.Subscribe(t.Context(), query.Query{Resource: runs, Window: window}, stream.Windowed, "")
			if err != nil {
				t.Fatal(err)
			}
			messages := ""
			for !strings.Contains(messages, `"rows":`) {
				message, err := sub.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				messages += string(message)
			}
			sub.Close()
			var order []string
			for _, match := range regexp.MustCompile(`"name":"([xyz])"`).FindAllStringSubmatch(messages, -1) {
				order = append(order, match[1])
			}
			if got := strings.Join(order, " "); got != want.sorted ||
				strings.Contains(messages, "CANARY") != (viewer.Scope == nil) {
				t.Errorf("%+v: sorted by the masked value: got %s: %s", viewer, got, messages)
			}
		}
	})
}
