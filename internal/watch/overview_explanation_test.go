package watch_test

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"

	"sigs.k8s.io/yaml"
)

// explain returns the explanation of an object, such as "core/v1/pods a web-1", with its parts as short texts.
func explain(t *testing.T, access *watch.Access, ref, namespace, name string) (
	doc *overview.Explanation, chain, affected string,
) {
	t.Helper()
	doc, err := watch.IndexOf(access).Explanation(t.Context(), ref, namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	var hops, objects []string
	for _, h := range doc.Chain {
		hops = append(hops, fmt.Sprintf("%s/%s %s %s", h.Kind, h.Name, h.Severity, h.State))
	}
	for _, a := range doc.Affected {
		objects = append(objects, fmt.Sprintf("%s/%s %s", a.Kind, a.Name, a.Severity))
	}
	return doc, strings.Join(hops, ", "), strings.Join(objects, ", ")
}

// An explanation has the path from an object to the cause, and the objects that the cause affects.
//
// Invariant: I18.
func TestExplanationsLeadToTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		allow(server, "ann list deployments *", "ann list replicasets *", "ann list nodes *", "bob list pods a",
			"bob list deployments a", "bob list replicasets a", "bob list configmaps a")
		program := cluster.For(watch.Viewer{Program: true})
		defer watch.IndexOf(program).Keep()()
		advance(time.Minute)
		for _, test := range []struct {
			viewer                         watch.Viewer
			ref, namespace, name           string
			chain, affected, hasUnexamined string
		}{
			{
				watch.Viewer{Program: true},
				deployments, "a", "stranded",
				"Deployment/stranded degraded there, ReplicaSet/stranded-rs failed there, Pod/CANARY-pod-3 failed there, " +
					"Node/CANARY-node failed there", "", "",
			},
			{
				watch.Viewer{Program: true},
				"core/v1/nodes", "", "CANARY-node", "",
				"Deployment/stranded degraded, ReplicaSet/stranded-rs failed, Pod/CANARY-pod-3 failed", "",
			},
			{
				watch.Viewer{Program: true},
				deployments, "a", "missing",
				"Deployment/missing degraded there, ReplicaSet/missing-rs failed there, Pod/CANARY-pod-2 failed there, " +
					"ConfigMap/CANARY-map none missing", "", "",
			},
			{
				watch.Viewer{Program: true},
				"core/v1/configmaps", "a", "CANARY-map", "",
				"Deployment/missing degraded, ReplicaSet/missing-rs failed, Pod/CANARY-pod-2 failed", "",
			},
			{user("ann"), deployments, "a", "stranded", "", "", "You cannot list these resource types: ConfigMaps, Events,"},
			{user("ann"), deployments, "a", "stranded", "", "", "If the cause is an object that you cannot read, it is not"},
			{user("ann"), "core/v1/nodes", "", "CANARY-node", "", "", "You cannot list"},
			{user("ann"), pods, "a", "CANARY-pod", "", "", "The causes and effects of problems of Pod objects are not examined"},
			{
				user("bob"), deployments, "a", "missing",
				"Deployment/missing degraded there, ReplicaSet/missing-rs failed there, Pod/CANARY-pod-2 failed there, " +
					"ConfigMap/CANARY-map none missing", "", "You cannot list these resource types: Events, Namespaces, Nodes,",
			},
			{user("bob"), "core/v1/nodes", "", "CANARY-node", "", "", "The causes and effects of problems of Node objects"},
		} {
			access := cluster.For(test.viewer)
			doc, chain, affected := explain(t, access, test.ref, test.namespace, test.name)
			if got := sorted(affected); chain != test.chain || got != sorted(test.affected) ||
				!strings.Contains(strings.Join(doc.Unexamined, " "), test.hasUnexamined) {
				t.Errorf("%v: got chain %s, affected %s, unexamined %q, want %+v", test, chain, got, doc.Unexamined, test)
			}
		}
		for _, o := range []struct{ ref, namespace, name string }{
			{pods, "", "x"}, {"core/v1/nodes", "a", "x"}, {pods, "a", ""}, {pods, "A!", "x"}, {pods, "a", "x/y"},
		} {
			if _, err := watch.IndexOf(program).Explanation(t.Context(), o.ref, o.namespace, o.name); err == nil {
				t.Errorf("%+v: got no error", o)
			}
		}
	})
}

func sorted(list string) string {
	items := strings.Split(list, ", ")
	slices.Sort(items)
	return strings.Join(items, ", ")
}

// The value of Explanation.Related changes only if a related object that the viewer may see has changed.
//
// Invariant: I18.
func TestExplanationsReportRelatedChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		allow(server, "ann list deployments *", "ann list replicasets *")
		program, ann := cluster.For(watch.Viewer{Program: true}), cluster.For(user("ann"))
		defer watch.IndexOf(program).Keep()()
		advance(time.Minute)
		related := func() (ofProgram, ofAnn string) {
			advance(2 * time.Second)
			all, _, _ := explain(t, program, deployments, "a", "crashing")
			some, _, _ := explain(t, ann, deployments, "a", "crashing")
			return all.Related, some.Related
		}
		before, annBefore := related()
		want := func(what string, isNew, isNewForAnn bool) {
			t.Helper()
			after, annAfter := related()
			if (after != before) != isNew || (annAfter != annBefore) != isNewForAnn {
				t.Errorf("%s: the program got %s, then %s; ann got %s, then %s", what, before, after, annBefore, annAfter)
			}
			before, annBefore = after, annAfter
		}
		want("nothing", false, false)
		setPod(server, "mounting", "other", crashingSpec, crashingStatus)
		want("a pod of another Deployment", false, false)
		setPod(server, "crashing", "second", crashingSpec, crashingStatus)
		want("a new pod", true, false)
		setPod(server, "crashing", "second", crashingSpec, strings.ReplaceAll(crashingStatus, "CANARY-message", "x"))
		want("another message", false, false)
		server.Delete(pods, "a", "second")
		want("a deleted pod", true, false)
		server.Set(replicaSets, apitest.Item{
			Namespace: "a", Name: "crashing-rs-2",
			Metadata: `"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"crashing","uid":"a/crashing"}]`,
		})
		want("a new ReplicaSet", true, true)
	})
}

// Without --inherit-verdicts, an explanation starts no watches.
func TestExplanationsStartNoWatchesIfOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, false)
		access := cluster.For(watch.Viewer{Program: true})
		defer watch.IndexOf(access).Keep()()
		advance(time.Minute)
		doc, _, _ := explain(t, access, deployments, "a", "crashing")
		if len(doc.Chain)+len(doc.Affected) > 0 || len(doc.Unexamined) != 1 || len(server.Requests("/pods")) > 0 {
			t.Errorf("got %+v, requests %s", doc, server.Requests("/pods"))
		}
	})
}

// The explanation of a PodDisruptionBudget without allowed disruptions contains the pods that it protects.
func TestExplanationOfDisruptionBudgetContainsProtectedPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, append(causeKinds(), apitest.Kind{
			Ref: "policy/v1/poddisruptionbudgets", Kind: "PodDisruptionBudget", Columns: `[{"name":"Name","type":"string"}]`,
		})...)
		server.Set("core/v1/namespaces", apitest.Item{Name: "a"})
		const count = 1500
		items := make([]apitest.Item, count)
		for n := range items {
			items[n] = apitest.Item{
				Namespace: "a", Name: fmt.Sprintf("web-%d", n+1), Cells: `["web","x"]`, Metadata: `"labels":{"app":"web"}`,
				Rest: `"status":{"phase":"Running"}`,
			}
		}
		server.Set(pods, items...)
		cluster := runClusterWith(t, server, watch.Options{
			Linger: time.Minute, InheritVerdicts: true, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		})
		access := cluster.For(watch.Viewer{Program: true})
		defer watch.IndexOf(access).Keep()()
		for allowed, want := range map[int]string{0: "Pod/web-1", 1: ""} {
			server.Set("policy/v1/poddisruptionbudgets", apitest.Item{
				Namespace: "a", Name: "web", Rest: fmt.Sprintf(`"spec":{"selector":{"matchLabels":{"app":"web"}}},`+
					`"status":{"observedGeneration":1,"disruptionsAllowed":%d,"expectedPods":1}`, allowed),
			})
			advance(time.Minute)
			doc, _, affected := explain(t, access, "policy/v1/poddisruptionbudgets", "a", "web")
			if name, _, _ := strings.Cut(affected, " "); name != want || doc.AffectedTotal != count*(1-allowed) {
				t.Errorf("%d disruptions: got %d, the first is %q, want %q", allowed, doc.AffectedTotal, name, want)
			}
		}
	})
}

// An explanation states of which lists the rules have read only a part, but only to viewers who may read these lists.
//
// Invariant: I18.
func TestExplanationNamesCutLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		allow(server, "ann list deployments *", "ann list replicasets *", "bob list replicasets a", "bob list pods a")
		const limit = 1000
		items := make([]apitest.Item, limit)
		for n := range items {
			items[n] = owned(fmt.Sprintf("large-%d", n), "ReplicaSet", "large")
			items[n].Cells, items[n].Rest = `["large","x"]`, `"status":{"phase":"Running"}`
		}
		server.Set(replicaSets, apitest.Item{Namespace: "a", Name: "large", Rest: `"spec":{"replicas":1000}`})
		server.Set(pods, items...)
		defer watch.IndexOf(cluster.For(watch.Viewer{Program: true})).Keep()()
		unexamined := func(viewer watch.Viewer) string {
			advance(time.Minute)
			doc, _, _ := explain(t, cluster.For(viewer), replicaSets, "a", "large")
			return strings.Join(doc.Unexamined, " ")
		}
		const text = "Only 1000 of the objects that ReplicaSet large owns are examined."
		if got := unexamined(watch.Viewer{Program: true}); strings.Contains(got, text) {
			t.Errorf("all owned objects are read: got %q", got)
		}
		more := items[0]
		more.Name = "large-more"
		server.Set(pods, more)
		for name, viewer := range map[string]watch.Viewer{
			"program": {Program: true}, "ann": user("ann"), "bob": user("bob"),
		} {
			if got := unexamined(viewer); strings.Contains(got, text) != (name != "ann") {
				t.Errorf("%s: got %q, want the text for viewers of pods", name, got)
			}
		}
		server.Delete(pods, "a", "large-more")
		if got := unexamined(watch.Viewer{Program: true}); strings.Contains(got, text) {
			t.Errorf("all owned objects are read again: got %q", got)
		}
	})
}

// setFixture stores the objects of a fixture of package cause.
func setFixture(t *testing.T, server *apitest.Server, name string) {
	t.Helper()
	text, err := os.ReadFile("cause/testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, objects, _ := strings.Cut(string(text), "\n---\n") // The first document is the expected verdict.
	for doc := range strings.SplitSeq(objects, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		metadata, _ := o["metadata"].(map[string]any)
		item := apitest.Item{Name: fmt.Sprint(metadata["name"])}
		if namespace, ok := metadata["namespace"].(string); ok {
			item.Namespace = namespace
		}
		if owners, ok := metadata["ownerReferences"].([]any); ok {
			owner, _ := owners[0].(map[string]any)
			owner["uid"] = item.Namespace + "/" + fmt.Sprint(owner["name"]) // The server generates such UIDs.
			item.Metadata = `"ownerReferences":` + encode(t, owners)
		}
		group, version, ok := strings.Cut(fmt.Sprint(o["apiVersion"]), "/")
		if !ok {
			group, version = "core", group
		}
		kind := fmt.Sprint(o["kind"])
		maps.DeleteFunc(o, func(key string, _ any) bool {
			return slices.Contains([]string{"apiVersion", "kind", "metadata"}, key)
		})
		if rest := encode(t, o); len(rest) > 2 {
			item.Rest = rest[1 : len(rest)-1]
		}
		server.Set(group+"/"+version+"/"+strings.ToLower(kind)+"s", item)
	}
}

// The explanation of a quota or of a webhook lists what it affects, and that of a route leads to the missing Service.
func TestExplanationsOfQuotaWebhookAndRoute(t *testing.T) {
	const workload = "Deployment/web failed, ReplicaSet/web-1 failed"
	for _, test := range []struct {
		fixture, ref, kind, namespace, name string
		chain, affected                     string
	}{
		{"quota-exceeded", "core/v1/resourcequotas", "ResourceQuota", "shop", "small", "", workload},
		{
			"webhook-denies", "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
			"ValidatingWebhookConfiguration", "", "labels", "", workload,
		},
		{
			"route-service-missing", "gateway.networking.k8s.io/v1/httproutes", "HTTPRoute", "shop", "web",
			"HTTPRoute/web failed there, Service/cart none missing", "",
		},
	} {
		t.Run(test.fixture, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				columns := `[{"name":"Name","type":"string"}]`
				server := apitest.New(t, append(causeKinds(),
					apitest.Kind{Ref: test.ref, Kind: test.kind, Cluster: test.namespace == "", Columns: columns},
					apitest.Kind{Ref: "core/v1/services", Kind: "Service", Columns: columns},
					apitest.Kind{Ref: "gateway.networking.k8s.io/v1/gateways", Kind: "Gateway", Columns: columns},
				)...)
				server.Set("core/v1/namespaces", apitest.Item{Name: "shop"})
				setFixture(t, server, test.fixture)
				cluster := runClusterWith(t, server, watch.Options{
					Linger: time.Minute, InheritVerdicts: true, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
				})
				access := cluster.For(watch.Viewer{Program: true})
				defer watch.IndexOf(access).Keep()()
				advance(time.Minute)
				_, chain, affected := explain(t, access, test.ref, test.namespace, test.name)
				if chain != test.chain || sorted(affected) != sorted(test.affected) {
					t.Errorf("got chain %s, affected %s, want %s and %s", chain, affected, test.chain, test.affected)
				}
			})
		})
	}
}
