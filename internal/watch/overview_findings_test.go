package watch_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
)

func overviewFor(t *testing.T, cluster *watch.Cluster, viewer watch.Viewer, q watch.OverviewQuery) *overview.Overview {
	t.Helper()
	q.Wait = time.Minute
	doc, err := cluster.For(viewer).Overview(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// lines returns one short text for each finding of an overview, in its order.
func lines(doc *overview.Overview) (found []string) {
	for _, p := range doc.Problems {
		found = append(found, fmt.Sprintf("%d %s/%s %s", p.Count, p.Kind, p.Name, p.Severity))
	}
	return found
}

// All objects with the same cause are one finding. Failed findings are first. The counts of objects in Counts include
// the objects of findings beyond the limit.
//
// Invariant: I35.
func TestOverviewGroupsObjectsByCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		allow(server, "bob list pods a")
		program := watch.Viewer{Program: true}
		defer cluster.For(program).KeepOverview()()
		advance(time.Minute)
		doc := overviewFor(t, cluster, program, watch.OverviewQuery{})
		want := []string{
			"4 Node/CANARY-node failed", "3 Deployment/crashing degraded", "3 Deployment/missing degraded",
			"3 Deployment/mounting degraded",
		}
		if got := lines(doc); !slices.Equal(got, want) || doc.Total != len(want) {
			t.Errorf("got %q of %d, want %q", got, doc.Total, want)
		}
		objects := 0
		for _, p := range doc.Problems {
			objects += p.Count
		}
		if got := doc.Counts["failed"] + doc.Counts["degraded"]; got != objects {
			t.Errorf("counts: got %v, want %d objects with a problem", doc.Counts, objects)
		}
		inA := lines(overviewFor(t, cluster, program, watch.OverviewQuery{Namespaces: []string{"a"}}))
		wantA := append([]string{"3 Deployment/stranded degraded"}, want[1:]...)
		if sorted(strings.Join(inA, ", ")) != sorted(strings.Join(wantA, ", ")) {
			t.Errorf("in namespace a: got %q, want %q, without the node", inA, wantA)
		}
		limited := overviewFor(t, cluster, program, watch.OverviewQuery{Limit: 1})
		if got := lines(limited); !slices.Equal(got, want[:1]) || limited.Total != len(want) ||
			limited.Counts["failed"] != doc.Counts["failed"] {
			t.Errorf("limit 1: got %q of %d, counts %v; without limit: %v", got, limited.Total, limited.Counts, doc.Counts)
		}
		bob := overviewFor(t, cluster, user("bob"), watch.OverviewQuery{Namespaces: []string{"a"}})
		wantBob := []string{
			"1 Pod/CANARY-pod failed", "1 Pod/CANARY-pod-2 failed", "1 Pod/CANARY-pod-3 failed",
			"1 Pod/CANARY-pod-4 degraded",
		}
		if got := lines(bob); !slices.Equal(got, wantBob) || bob.Counts["failed"] != 3 || bob.Summary.Nodes != nil ||
			!strings.HasPrefix(strings.Join(bob.Unexamined, " "), "You cannot list these resource types: ConfigMaps, Dep") {
			t.Errorf("with pods only: got %q, counts %v, %+v, %q", got, bob.Counts, bob.Summary, bob.Unexamined)
		}
	})
}

// One sentence lists the resources that the program itself may not list. Nothing is stated about the objects.
func TestOverviewWithoutPermissionOfProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		for _, ref := range []string{"core/v1/nodes", "apps/v1/deployments"} {
			server.Refuse(ref, "", http.StatusForbidden, "no")
		}
		program := watch.Viewer{Program: true}
		defer cluster.For(program).KeepOverview()()
		advance(time.Minute)
		doc := overviewFor(t, cluster, program, watch.OverviewQuery{})
		want := []string{"Glasshouse has no permission to list these resource types: Deployments, Nodes."}
		if doc.Summary.Nodes != nil || !slices.Equal(doc.Unexamined, want) {
			t.Errorf("got nodes %+v and %q, want no nodes and %q", doc.Summary.Nodes, doc.Unexamined, want)
		}
		if doc.Planned != len(doc.Watched) {
			t.Errorf("got %d planned resource types, want the %d watched ones", doc.Planned, len(doc.Watched))
		}
	})
}

// A resource that the program may not list does not delay the next resources, as a list in progress does.
func TestForbiddenResourcesDoNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		for _, kind := range causeKinds() {
			server.Refuse(kind.Ref, "", http.StatusForbidden, "no")
		}
		program := watch.Viewer{Program: true}
		defer cluster.For(program).KeepOverview()()
		start := time.Now()
		doc := overviewFor(t, cluster, program, watch.OverviewQuery{}) // Waits until all resources have started.
		if took := time.Since(start); doc.Planned < 5 || len(doc.Watched) != doc.Planned || took > time.Second {
			t.Errorf("got %d of %d resource types after %s, want all of at least 5 within 1 s",
				len(doc.Watched), doc.Planned, took)
		}
	})
}

// Warnings of the last hour are grouped by reason, the most recent first. Each group lists an object once.
func TestOverviewGroupsWarningsByReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		event := func(name, kind, reason, pod string, count int, age time.Duration) {
			server.Set("core/v1/events", apitest.Item{Namespace: "a", Name: name, Rest: fmt.Sprintf(
				`"type":%q,"reason":%q,"message":"message of %s","count":%d,"lastTimestamp":%q,`+
					`"involvedObject":{"kind":"Pod","apiVersion":"v1","namespace":"a","name":%q}`,
				kind, reason, name, count, time.Now().Add(-age).UTC().Format(time.RFC3339), pod)})
		}
		event("e1", "Warning", "BackOff", "web-1", 5, 3*time.Minute)
		event("e2", "Warning", "BackOff", "web-2", 1, time.Minute)
		event("e3", "Warning", "BackOff", "web-2", 2, 2*time.Minute)
		event("e4", "Warning", "Unhealthy", "web-1", 1, 30*time.Second)
		event("e5", "Warning", "Unhealthy", "web-3", 1, 2*time.Hour)
		event("e6", "Normal", "Pulled", "web-1", 1, time.Second)
		server.Delete("core/v1/events", "a", "CANARY-event")
		doc := overviewFor(t, cluster, watch.Viewer{Program: true}, watch.OverviewQuery{})
		var got []string
		for _, w := range doc.Warnings {
			var names []string
			for _, o := range w.Objects {
				names = append(names, o.Resource+" "+o.Name)
			}
			got = append(got, fmt.Sprintf("%d %s (%s) %s", w.Count, w.Reason, w.Message, strings.Join(names, ", ")))
		}
		want := []string{
			"1 Unhealthy (message of e4) core/v1/pods web-1",
			"8 BackOff (message of e2) core/v1/pods web-2, core/v1/pods web-1",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// The number of watched custom resource types is limited. The overview states how many others exist, but not to guests.
func TestOverviewStatesOmittedResourceTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := causeKinds()
		for n := range 503 {
			all = append(all, apitest.Kind{
				Ref: fmt.Sprintf("example.com/v1/things%03d", n), Kind: fmt.Sprintf("Thing%03d", n),
				Columns: `[{"name":"Name","type":"string"}]`,
			})
		}
		server := apitest.New(t, all...)
		cluster := runClusterWith(t, server, watch.Options{
			InheritVerdicts: true, Log: slog.New(slog.DiscardHandler),
		})
		program := watch.Viewer{Program: true}
		defer cluster.For(program).KeepOverview()()
		advance(time.Minute)
		doc := overviewFor(t, cluster, program, watch.OverviewQuery{})
		custom := 0
		for _, w := range doc.Watched {
			if strings.HasPrefix(w.Resource, "example.com/") {
				custom++
			}
		}
		const want = "more custom resource types are not examined, because the cluster has too many."
		if got := strings.Join(doc.Unexamined, " "); custom != 500 || !strings.Contains(got, want) {
			t.Errorf("got %d custom resources and %q, want 500 and %q", custom, got, want)
		}
		guest := sharedWith(watch.Part{Resource: pods, Namespaces: []string{"a"}})
		shared := overviewFor(t, cluster, guest, watch.OverviewQuery{})
		if got := strings.Join(shared.Unexamined, " "); strings.Contains(got, "custom") || shared.Planned != 0 {
			t.Errorf("guest: got %q, and %d planned resource types", got, shared.Planned)
		}
	})
}

// The overview of a guest does not name the namespaces that the program may read.
func TestOverviewHidesNamespacesFromGuests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, causeKinds()...)
		server.Set("core/v1/namespaces", apitest.Item{Name: "a"}, apitest.Item{Name: "b"})
		allowOnly(server, "a", "b")
		cluster := runClusterWith(t, server, watch.Options{
			InheritVerdicts: true, Log: slog.New(slog.DiscardHandler),
		})
		defer cluster.For(watch.Viewer{Program: true}).KeepOverview()()
		advance(time.Minute)
		namespacesFor := func(v watch.Viewer) []string {
			for _, w := range overviewFor(t, cluster, v, watch.OverviewQuery{}).Watched {
				if w.Resource == pods {
					return w.Namespaces
				}
			}
			t.Fatal("the overview contains no pods")
			return nil
		}
		if got, want := namespacesFor(watch.Viewer{Program: true}), []string{"a", "b"}; !slices.Equal(got, want) {
			t.Errorf("program: got %q, want %q", got, want)
		}
		if got := namespacesFor(sharedWith(watch.Part{Resource: pods, Labels: "app=none"})); got != nil {
			t.Errorf("guest: got the namespaces %q", got)
		}
	})
}

// A finding names the workload that owns its object. Viewers who may not read the objects on the path to the workload
// get no owner, or an owner below it.
func TestOverviewNamesOwners(t *testing.T) {
	const widgets = "example.com/v1/widgets"
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, append(causeKinds(), apitest.Kind{
			Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`,
		})...)
		allow(server, "bob list pods a", "eve list pods a", "eve list deployments a",
			"sam list pods a", "sam list replicasets a")
		server.Set("core/v1/namespaces", apitest.Item{Name: "a"})
		server.Set("core/v1/nodes", apitest.Item{
			Name: "n", Rest: `"status":{"conditions":[{"type":"Ready","status":"True"}]}`,
		})
		setWorkload(server, "crashing", "crashing-1", crashingSpec, crashingStatus)
		// A failed pod is no problem of its owners, which replace it. The topmost owner is no workload.
		server.Set(widgets, apitest.Item{Namespace: "a", Name: "w"})
		const progressing = `"spec":{"replicas":2},"status":{"observedGeneration":1}`
		server.Set(deployments, withOwner(apitest.Item{
			Namespace: "a", Name: "fine", Rest: progressing,
		}, "example.com/v1", "Widget", "w", "a/w"))
		server.Set(replicaSets, withOwner(apitest.Item{
			Namespace: "a", Name: "fine-rs", Rest: progressing,
		}, "apps/v1", "Deployment", "fine", "a/fine"))
		failed := func(name string) apitest.Item {
			return apitest.Item{
				Namespace: "a", Name: name, Cells: `["x","x"]`,
				Rest: `"spec":{"nodeName":"n"},"status":{"phase":"Failed","reason":"Evicted"}`,
			}
		}
		server.Set(pods, withOwner(failed("evicted"), "apps/v1", "ReplicaSet", "fine-rs", "a/fine-rs"),
			// The owner was deleted, and another object with its name was created.
			withOwner(failed("orphan"), "apps/v1", "ReplicaSet", "fine-rs", "a/fine-rs of yesterday"))
		cluster, _ := runSinceCluster(t, server)
		for _, test := range []struct {
			viewer watch.Viewer
			want   string
		}{
			{watch.Viewer{Program: true}, "Deployment/crashing, Pod/evicted of Deployment/fine, Pod/orphan"},
			{user("bob"), "Pod/crashing-1, Pod/evicted, Pod/orphan"},
			{user("eve"), "Deployment/crashing, Pod/evicted, Pod/orphan"},
			{user("sam"), "Pod/crashing-1 of ReplicaSet/crashing-rs, Pod/evicted of ReplicaSet/fine-rs, Pod/orphan"},
		} {
			var got []string
			for _, p := range overviewFor(t, cluster, test.viewer, watch.OverviewQuery{Namespaces: []string{"a"}}).Problems {
				text := p.Kind + "/" + p.Name
				if p.Owner != nil {
					text += " of " + p.Owner.Kind + "/" + p.Owner.Name
				}
				got = append(got, text)
			}
			if slices.Sort(got); strings.Join(got, ", ") != test.want {
				t.Errorf("got %q, want %q", strings.Join(got, ", "), test.want)
			}
		}
	})
}

func withOwner(item apitest.Item, version, kind, owner, uid string) apitest.Item {
	item.Metadata += fmt.Sprintf(`"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true}]`,
		version, kind, owner, uid)
	return item
}
