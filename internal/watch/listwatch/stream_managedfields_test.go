package listwatch_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

func versionOf(t *testing.T, e apiwatch.Event) *compact.Version {
	t.Helper()
	v, ok := e.Object.(*compact.Version)
	if !ok {
		t.Fatalf("got %s with %T %+v, want a Version", e.Type, e.Object, e.Object)
	}
	return v
}

func managedPod(name, managed string) apitest.Item {
	return apitest.Item{
		Namespace: "a", Name: name, Cells: fmt.Sprintf(`[%q,""]`, name), Metadata: `"managedFields":` + managed,
	}
}

// Only objects from watch events have managedFields, not those from lists.
func TestOnlyWatchEventsHaveManagedFields(t *testing.T) {
	const managed = `[{"manager":"kubectl","operation":"Apply","time":"2026-11-21T10:00:00Z"},` +
		`{"manager":"kubelet","operation":"Update","subresource":"status","time":"2026-11-21T10:00:05Z",` +
		`"fieldsV1":{"f:status":{}}},` +
		`{"manager":"scheduler","operation":"Update","time":"2026-11-21T10:00:01Z"}]`
	server := podServer(t)
	server.Set(pods, managedPod("listed", managed))
	s := newSource(t, server, pods, listwatch.SourceOptions{})
	w := openWatch(t, s, streamingListOptions())
	if e := nextEvent(t, w); e.Object != objectOf(t, e) {
		t.Errorf("list item: got a %T, want an Object", e.Object)
	}
	nextEvent(t, w)
	server.Set(pods, managedPod("listed", managed))
	v := versionOf(t, nextEvent(t, w))
	text, err := v.Managed.JSON()
	if err != nil || string(text) != managed {
		t.Errorf("managedFields: got %s, error %v\nwant %s", text, err, managed)
	}
	at := time.Date(2026, 11, 21, 10, 0, 5, 0, time.UTC)
	want := fieldmanager.Author{Manager: "kubelet", Operation: "Update", Subresource: "status", Time: at}
	if got, unambiguous := v.Managed.Newest(); got != want || !unambiguous || !v.ManagedTime().Equal(at) {
		t.Errorf("Newest: got %+v, unambiguous %t, at %s; want %+v, unambiguous", got, unambiguous, v.ManagedTime(), want)
	}
	server.Set(
		pods, managedPod("listed", managed), managedPod("other", "[]"),
		managedPod("other", `[{"manager":"m"},{"manager":"n"}]`),
	)
	if repeated := versionOf(t, nextEvent(t, w)); repeated.Managed != v.Managed {
		t.Error("equal managedFields are stored twice")
	}
	if unmanaged := versionOf(t, nextEvent(t, w)); unmanaged.Managed != nil || !unmanaged.ManagedTime().IsZero() {
		t.Errorf("without managedFields: got %+v, time %s, want none", unmanaged.Managed, unmanaged.ManagedTime())
	}
	if got, unambiguous := versionOf(t, nextEvent(t, w)).Managed.Newest(); got.Manager != "n" || unambiguous {
		t.Errorf("Newest of two without a time: got %+v, unambiguous %t, want n, ambiguous", got, unambiguous)
	}
}

// Invariant: I3.
func TestObjectsDoNotKeepManagedFields(t *testing.T) {
	server := podServer(t)
	s := newSource(t, server, pods, listwatch.SourceOptions{})
	listAll(t, s)
	w := openWatch(t, s, metav1.ListOptions{ResourceVersion: "100"})
	server.Set(pods, managedPod("p", `[{"manager":"m"}]`), managedPod("q", `[{"manager":"n"}]`))
	freed := make(chan string, 1)
	v := versionOf(t, nextEvent(t, w))
	kept := v.Object
	runtime.AddCleanup(v.Managed, func(name string) { freed <- name }, "m")
	v = versionOf(t, nextEvent(t, w)) // Until the next event, the decoder keeps the managedFields of the last one.
	for deadline := time.After(time.Minute); ; {
		runtime.GC()
		select {
		case <-freed:
			if _, err := kept.JSON(); err != nil {
				t.Error(err)
			}
			runtime.KeepAlive(v)
			return
		case <-deadline:
			t.Fatal("the managedFields of an Object are still in memory")
		default:
		}
	}
}

// The managedFields of a watch event are compressed with the dictionary of the list before the watch.
func TestManagedFieldsAreSmall(t *testing.T) {
	fixture, err := os.ReadFile("../fieldmanager/testdata/pod.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, managed, _ := strings.Cut(strings.Split(string(fixture), "\n")[3], `"managedFields":`)
	managed, _, _ = strings.Cut(managed, `}]},"spec"`)
	managed += "}]"
	server := podServer(t)
	for i := range 300 {
		server.Set(pods, managedPod(fmt.Sprint("p", i), managed))
	}
	s := newSource(t, server, pods, listwatch.SourceOptions{})
	listAll(t, s)
	w := openWatch(t, s, metav1.ListOptions{ResourceVersion: "400"})
	server.Set(pods, managedPod("p1", strings.ReplaceAll(managed, "14:43:17", "15:01:42")))
	got := versionOf(t, nextEvent(t, w)).Managed.Size()
	t.Logf("%d bytes of managedFields use %d bytes in memory", len(managed), got)
	if got > len(managed)/5 {
		t.Errorf("%d bytes of managedFields use %d bytes in memory, want at most 1/5", len(managed), got)
	}
}

// Objects of lists and of watches have the time and the author of the last change of their specification, unless
// controllers usually write the objects of their resource.
func TestObjectsHaveTheirLastChange(t *testing.T) {
	entry := func(manager, subresource, part string, second int) string {
		return fmt.Sprintf(`{"manager":%q,"operation":"Update","subresource":%q,"time":"2026-11-21T10:00:%02dZ",`+
			`"fieldsV1":{"f:%s":{"f:x":{}}}}`, manager, subresource, second, part)
	}
	helm := entry("helm", "", "spec", 0)
	for _, test := range []struct{ name, resource, managed, want string }{
		{"creation", "apps/v1/deployments", helm, "00Z ago by helm"},
		{"edit", "apps/v1/deployments", helm + "," + entry("kubectl-edit", "", "spec", 7), "07Z ago by kubectl-edit"},
		{"scale", "apps/v1/deployments", helm + "," + entry("kubectl", "scale", "spec", 7), "07Z ago by kubectl"},
		{"data", "core/v1/configmaps", entry("kubectl-edit", "", "data", 7), "07Z ago by kubectl-edit"},
		{"status and metadata", "apps/v1/deployments", helm + "," + entry("kube-controller-manager", "status", "status", 8) +
			"," + entry("kubectl-label", "", "metadata", 9), "00Z ago by helm"},
		{"controller", "apps/v1/deployments", helm + "," + entry("vpa-controller", "", "spec", 8), "00Z ago by helm"},
		{"only controllers", "apps/v1/deployments", entry("kube-controller-manager", "", "spec", 8), ""},
		{"no entries", "apps/v1/deployments", "", ""},
		{"pod", pods, helm, ""},
		{"ReplicaSet", "apps/v1/replicasets", helm, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := apitest.New(t, apitest.Kind{
				Ref: test.resource, Kind: "Kind", Columns: "[" + nameColumn + "," + ageColumn + "]",
			})
			item := managedPod("x", "["+test.managed+"]")
			item.Metadata += `,"creationTimestamp":"2026-11-21T10:00:00Z"`
			check := func(source string, o *compact.Object) {
				t.Helper()
				want := ""
				if test.want != "" {
					want = `["2026-11-21T10:00:` + test.want + `"]`
				}
				if got := string(compact.Extra(o)); got != want {
					t.Errorf("%s: got %q, want %q", source, got, want)
				}
			}
			server.Set(test.resource, item)
			s := newSource(t, server, test.resource, listwatch.SourceOptions{})
			for _, o := range listAll(t, s) {
				check("list", o)
			}
			w := openWatch(t, s, streamingListOptions())
			check("streaming list", objectOf(t, nextEvent(t, w)))
			nextEvent(t, w)
			server.Set(test.resource, item)
			check("watch", objectOf(t, nextEvent(t, w)))
		})
	}
}
