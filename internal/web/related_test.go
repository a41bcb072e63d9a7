package web_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch/apitest"
	"glasshouse/internal/watch/informer"
)

type relatedGraph struct {
	Nodes []struct {
		ID, Ref, Kind, NS, Name, UID, State, Reason string
		Count                                       int
	}
	Edges     []struct{ From, To, Type, Via string }
	Truncated bool
	Searched  []struct{ Ref, State, Reason string }
}

func (b *bubble) getRelated(object string) *relatedGraph {
	b.t.Helper()
	response, body := b.getStreaming(b.t.Context(), "/api/v1/related/"+object)
	text, err := io.ReadAll(body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %d %s, %v", object, response.StatusCode, text, err)
	}
	g := new(relatedGraph)
	if err := json.Unmarshal(text, g); err != nil {
		b.t.Fatal(err)
	}
	ids := make(map[string]bool)
	for _, n := range g.Nodes {
		if ids[n.ID] {
			b.t.Errorf("%s: %s is there twice", object, n.ID)
		}
		ids[n.ID] = true
	}
	for _, edge := range g.Edges {
		if !ids[edge.From] || !ids[edge.To] {
			b.t.Errorf("%s: %v leads from or to what is not there", object, edge)
		}
	}
	return g
}

// nodeStates returns the nodes of the graph, each in the form "id state", or "id state count" for a group of objects.
func (g *relatedGraph) nodeStates() (all []string) {
	for _, n := range g.Nodes {
		text := n.ID + " " + n.State
		if n.Count > 0 {
			text += fmt.Sprint(" ", n.Count)
		}
		all = append(all, text)
	}
	return all
}

func (g *relatedGraph) edgeTexts() (all []string) {
	for _, e := range g.Edges {
		all = append(all, e.From+" "+e.Type+" "+e.To)
	}
	return all
}

func (g *relatedGraph) searchedStates() (all []string) {
	for _, s := range g.Searched {
		all = append(all, s.Ref+" "+s.State)
	}
	return all
}

// wantSame compares got with want, regardless of the order of the strings.
func (b *bubble) wantSame(name string, got []string, want ...string) {
	b.t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func relatedKinds() []apitest.Kind {
	columns := `[{"name":"Name","type":"string"}]`
	kind := func(ref, kind string, cluster bool) apitest.Kind {
		return apitest.Kind{Ref: ref, Kind: kind, Cluster: cluster, Columns: columns}
	}
	return []apitest.Kind{
		kind("core/v1/namespaces", "Namespace", true), kind("core/v1/nodes", "Node", true),
		kind("core/v1/services", "Service", false),
		kind("core/v1/configmaps", "ConfigMap", false), kind("core/v1/secrets", "Secret", false),
		kind("apps/v1/deployments", "Deployment", false), kind("apps/v1/replicasets", "ReplicaSet", false),
		kind("discovery.k8s.io/v1/endpointslices", "EndpointSlice", false),
		kind("policy/v1/poddisruptionbudgets", "PodDisruptionBudget", false),
		kind("networking.k8s.io/v1/ingresses", "Ingress", false),
		kind("autoscaling/v2/horizontalpodautoscalers", "HorizontalPodAutoscaler", false),
		kind("example.com/v1/backups", "Backup", false),
		kind("apiregistration.k8s.io/v1/apiservices", "APIService", true),
	}
}

func ownerReference(kind, name, uid string) string {
	apiVersion := map[string]string{"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "Backup": "example.com/v1"}[kind]
	return fmt.Sprintf(`"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true}]`,
		apiVersion, kind, name, uid)
}

// addDeployment adds a Deployment with the given number of pods, and objects that are related to the Deployment.
func (b *bubble) addDeployment(pods int) {
	set := func(ref, name, metadata, rest string) {
		b.api.Set(ref, apitest.Item{
			Namespace: "shop", Name: name, UID: ref + "/" + name, Metadata: metadata, Rest: rest,
		})
	}
	b.api.Set("core/v1/namespaces", apitest.Item{Name: "shop"})
	b.api.Set("core/v1/nodes", apitest.Item{Name: "node-1"})
	set("apps/v1/deployments", "web", "",
		`"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"spec":{"containers":[{"envFrom":[
		{"configMapRef":{"name":"env"}},{"secretRef":{"name":"none"}}]}]}}}`)
	set("apps/v1/replicasets", "web-1", ownerReference("Deployment", "web", "apps/v1/deployments/web"),
		`"spec":{"selector":{"matchLabels":{"app":"web"}}}`)
	for n := range pods {
		set(podsRef, fmt.Sprintf("web-1-%03d", n),
			ownerReference("ReplicaSet", "web-1", "apps/v1/replicasets/web-1")+`,"labels":{"app":"web"}`,
			`"spec":{"nodeName":"node-1"}`)
	}
	set(podsRef, "other", `"labels":{"app":"other"}`, "")
	set("core/v1/services", "web", "", `"spec":{"selector":{"app":"web"}}`)
	set("core/v1/services", "other", "", `"spec":{"selector":{"app":"other"}}`)
	b.api.Set("core/v1/services", apitest.Item{Namespace: "b", Name: "web", Rest: `"spec":{"selector":{"app":"web"}}`})
	set("discovery.k8s.io/v1/endpointslices", "web-x", `"labels":{"kubernetes.io/service-name":"web"}`,
		`"endpoints":[{"targetRef":{"kind":"Pod","name":"web-1-000"}}]`)
	set("policy/v1/poddisruptionbudgets", "web", "", `"spec":{"selector":{"matchLabels":{"app":"web"}}}`)
	set("networking.k8s.io/v1/ingresses", "web", "",
		`"spec":{"rules":[{"http":{"paths":[{"backend":{"service":{"name":"web"}}}]}}]}`)
	set("autoscaling/v2/horizontalpodautoscalers", "web", "",
		`"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}`)
	for name, namespace := range map[string]string{"v1.shop": "shop", "v1.elsewhere": "b"} {
		b.api.Set("apiregistration.k8s.io/v1/apiservices", apitest.Item{
			Name: name, UID: name, Rest: fmt.Sprintf(`"spec":{"service":{"namespace":%q,"name":"web"}}`, namespace),
		})
	}
	set("core/v1/configmaps", "env", "", "")
	set("example.com/v1/backups", "nightly", "", `"spec":{"secretName":"key"}`)
	set("core/v1/configmaps", "nightly-state", ownerReference("Backup", "nightly", "example.com/v1/backups/nightly"), "")
}

const (
	podsID = "core/pods/shop/"
	webID  = "apps/deployments/shop/web"
)

// Invariant: I27.
func TestRelatedGraphOfADeployment(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.addDeployment(2)
		g := b.getRelated("apps/v1/deployments/shop/web")
		b.wantSame(
			"nodes",
			g.nodeStates(),
			webID+" there",
			"core/configmaps/shop/env there",
			"core/secrets/shop/none missing",
			"apps/replicasets/shop/web-1 there",
			podsID+"web-1-000 there",
			podsID+"web-1-001 there",
			"core/services/shop/web there",
			"policy/poddisruptionbudgets/shop/web there",
			"autoscaling/horizontalpodautoscalers/shop/web there",
		)
		want := []string{
			webID + " uses core/configmaps/shop/env", webID + " uses core/secrets/shop/none",
			webID + " owns apps/replicasets/shop/web-1",
			"autoscaling/horizontalpodautoscalers/shop/web uses " + webID,
		}
		for _, pod := range []string{podsID + "web-1-000", podsID + "web-1-001"} {
			want = append(want, "apps/replicasets/shop/web-1 owns "+pod, webID+" selects "+pod,
				"core/services/shop/web selects "+pod,
				"policy/poddisruptionbudgets/shop/web selects "+pod)
		}
		b.wantSame("edges", g.edgeTexts(), want...)
		b.wantSame("searched", g.searchedStates(), "core/v1/services live", "policy/v1/poddisruptionbudgets live",
			"networking.k8s.io/networkpolicies absent",
			"apps/v1/replicasets live", "core/v1/pods live", "autoscaling/v2/horizontalpodautoscalers live")
		if first := g.Nodes[0]; first.ID != webID || first.Ref != "apps/v1/deployments" || first.Kind != "Deployment" ||
			first.NS != "shop" || first.Name != "web" || first.UID != "apps/v1/deployments/web" || g.Truncated {
			b.t.Errorf("the first node is %+v, truncated: %t", first, g.Truncated)
		}
		for _, e := range g.Edges {
			if e.To == "core/configmaps/shop/env" && e.Via != "spec.template.spec.containers.envFrom.configMapRef" {
				b.t.Errorf("the ConfigMap is used via %q", e.Via)
			}
		}
	}, relatedKinds()...)
}

// Invariant: I27.
func TestRelatedGraphOfOtherKinds(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.addDeployment(1)
		pod, set := podsID+"web-1-000", "apps/replicasets/shop/web-1"
		for object, want := range map[string][]string{
			podsRef + "/shop/web-1-000": {
				webID + " owns " + set, set + " owns " + pod, pod + " uses core/nodes/_/node-1",
				"core/services/shop/web selects " + pod,
				"policy/poddisruptionbudgets/shop/web selects " + pod,
				"discovery.k8s.io/endpointslices/shop/web-x uses " + pod,
			},
			"core/v1/services/shop/web": {
				webID + " owns " + set, set + " owns " + pod, "core/services/shop/web selects " + pod,
				"networking.k8s.io/ingresses/shop/web uses core/services/shop/web",
				"discovery.k8s.io/endpointslices/shop/web-x uses core/services/shop/web",
				"apiregistration.k8s.io/apiservices/_/v1.shop uses core/services/shop/web",
			},
			"core/v1/configmaps/shop/env": {webID + " uses core/configmaps/shop/env"},
			"core/v1/nodes/_/node-1":      {pod + " uses core/nodes/_/node-1"},
			"networking.k8s.io/v1/ingresses/shop/web": {
				"networking.k8s.io/ingresses/shop/web uses core/services/shop/web",
			},
			"example.com/v1/backups/shop/nightly": {
				"example.com/backups/shop/nightly uses core/secrets/shop/key",
				"example.com/backups/shop/nightly owns core/configmaps/shop/nightly-state",
			},
			"core/v1/configmaps/shop/nightly-state": {
				"example.com/backups/shop/nightly owns core/configmaps/shop/nightly-state",
			},
			podsRef + "/shop/other": {"core/services/shop/other selects core/pods/shop/other"},
		} {
			b.wantSame(object, b.getRelated(object).edgeTexts(), want...)
		}
	}, relatedKinds()...)
}

// The graph combines all but 20 pods of one owner into one node. It contains at most 200 nodes.
//
// Invariant: I27.
func TestRelatedGraphIsLimited(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.addDeployment(1000)
		g := b.getRelated("apps/v1/deployments/shop/web")
		groups := 0
		for _, n := range g.Nodes {
			if n.Count > 0 {
				groups++
				if n.Count != 980 || n.Name != "" || n.Kind != "Pod" || n.State != "there" || n.NS != "shop" {
					b.t.Errorf("the others are %+v, want 980 pods", n)
				}
				if edges := strings.Join(g.edgeTexts(), "\n"); !strings.Contains(edges,
					"apps/replicasets/shop/web-1 owns "+n.ID) ||
					!strings.Contains(edges, "core/services/shop/web selects "+n.ID) {
					b.t.Errorf("the others are not owned and selected: %s", edges)
				}
			}
		}
		if groups != 1 || len(g.Nodes) != 1+2+1+21+3 || g.Truncated {
			b.t.Errorf("%d nodes, %d of them of several, truncated: %t", len(g.Nodes), groups, g.Truncated)
		}
		for n := range 300 { // Each pod has a different owner.
			b.api.Set(podsRef, apitest.Item{
				Namespace: "shop", Name: fmt.Sprint("single-", n),
				Metadata: ownerReference("Backup", "b", strconv.Itoa(n)) + `,"labels":{"app":"single"}`,
			})
		}
		b.api.Set("core/v1/services", apitest.Item{
			Namespace: "shop", Name: "single", Rest: `"spec":{"selector":{"app":"single"}}`,
		})
		synctest.Wait()
		if g := b.getRelated("core/v1/services/shop/single"); len(g.Nodes) != 200 || !g.Truncated {
			b.t.Errorf("%d nodes, truncated: %t, want 200 and the truncation reported", len(g.Nodes), g.Truncated)
		}
	}, relatedKinds()...)
}

// If a resource cannot be read, the graph reports the reason. It does not suggest that no related object exists.
//
// Invariant: I27.
func TestRelatedReportsUnreadableResources(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.addDeployment(1)
		b.api.Refuse("apps/v1/replicasets", "", http.StatusForbidden, "not for you")
		b.api.FailPath("/api/v1/namespaces/shop/secrets/none", http.StatusForbidden, "no secrets for you")
		b.api.FailPath("/api/v1/namespaces/shop/configmaps/env", http.StatusServiceUnavailable, "away")
		b.api.HangStreamingLists("core/v1/services")
		start := time.Now()
		g := b.getRelated("apps/v1/deployments/shop/web")
		if took := time.Since(start); took > 6*time.Second {
			b.t.Errorf("it took %s", took)
		}
		for _, want := range []string{
			"apps/v1/replicasets forbidden", "core/v1/services syncing", "core/v1/pods live",
			"networking.k8s.io/networkpolicies absent",
		} {
			if !slices.Contains(g.searchedStates(), want) {
				b.t.Errorf("the graph does not report %q: %q", want, g.searchedStates())
			}
		}
		reasons := make(map[string]string)
		for _, n := range g.Nodes {
			reasons[n.ID+" "+n.State] = n.Reason
		}
		if !strings.Contains(reasons["core/secrets/shop/none forbidden"],
			`You cannot get secrets in the namespace "shop".`) ||
			!strings.Contains(reasons["core/configmaps/shop/env unknown"], "away") {
			b.t.Errorf("the nodes are %v", reasons)
		}
		if requests := b.api.Requests("/secrets"); len(requests) > 0 {
			b.t.Errorf("what may not be read is asked for: %q", requests)
		}
		for _, s := range g.Searched {
			if s.Ref == "apps/v1/replicasets" && !strings.Contains(s.Reason, "not for you") {
				b.t.Errorf("the ReplicaSets are %+v", s)
			}
		}
		b.wantSame("the pod of an owner that may not be read", b.getRelated(podsRef + "/shop/web-1-000").nodeStates()[:2],
			podsID+"web-1-000 there", "apps/replicasets/shop/web-1 there")
	}, relatedKinds()...)
}

// If the objects of a resource exceed the memory limit, the graph reports the resource as failed, with the reason.
func TestRelatedReportsResourcesBeyondMemory(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, apitest.Kind{Ref: podsRef, Kind: "Pod"}, apitest.Kind{
		Ref: "core/v1/nodes", Kind: "Node", Cluster: true,
	})
	api.Set("core/v1/nodes", apitest.Item{Name: "node-1"})
	for n := range 70 { // The pods contain random data, which does not compress.
		noise := make([]byte, 300<<10)
		_, _ = rand.Read(noise)
		api.Set(podsRef, apitest.Item{
			Namespace: "a", Name: fmt.Sprint("p-", n),
			Rest: fmt.Sprintf(`"spec":{"nodeName":"node-1","noise":"%x"}`, noise),
		})
	}
	s := startSite(t, startClusterWith(t, api, informer.MinMemory))
	// A request waits only briefly for the first lists, so repeat the request.
	path := "/api/v1/related/core/v1/nodes/_/node-1"
	s.waitForText(path, `{"ref":"core/v1/pods","state":"failed"`)
	// The message depends on whether the server estimated the size of the list or measured it, so compare only the
	// end.
	if a := s.get(path); !strings.Contains(a.body, "of the 24MiB for watched objects") {
		t.Errorf("got %.600s, want that the pods do not fit", a.body)
	}
}

// An object can refer to another object that is missing from the cached list. If the list is live, the graph reports
// the other object as missing. If the list can be stale, the server reads the other object separately.
//
// Invariant: I27.
func TestRelatedReadsObjectsOfStaleLists(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.addDeployment(1)
		setSlice := func(name, pod string) {
			b.api.Set("discovery.k8s.io/v1/endpointslices", apitest.Item{
				Namespace: "shop", Name: name,
				Rest: fmt.Sprintf(`"endpoints":[{"targetRef":{"kind":"Pod","name":%q}}]`, pod),
			})
		}
		setSlice("ends", "gone")
		id := "discovery.k8s.io/endpointslices/shop/"
		b.wantSame("live", b.getRelated("discovery.k8s.io/v1/endpointslices/shop/ends").nodeStates(), id+"ends there",
			podsID+"gone missing")
		if requests := b.api.Requests("/pods/gone"); len(requests) > 0 {
			b.t.Errorf("the list is live, and it asks %q", requests)
		}
		setBackup := func(name, state string) {
			b.api.Set("example.com/v1/backups", apitest.Item{
				Namespace: "shop", Name: name, Rest: fmt.Sprintf(`"spec":{"configMapRef":{"name":%q}}`, state),
			})
		}
		setBackup("first", "env")
		b.getRelated("example.com/v1/backups/shop/first") // After this read, the server polls ConfigMaps every 30 s.
		b.api.Set("core/v1/configmaps", apitest.Item{Namespace: "shop", Name: "late"})
		setBackup("second", "late")
		g := b.getRelated("example.com/v1/backups/shop/second")
		b.wantSame("stale", g.nodeStates(), "example.com/backups/shop/second there", "core/configmaps/shop/late there")
		if !slices.Contains(g.searchedStates(), "core/v1/configmaps stale") {
			b.t.Errorf("searched are %q", g.searchedStates())
		}
	}, append(slices.DeleteFunc(relatedKinds(), func(k apitest.Kind) bool { return k.Kind == "ConfigMap" }),
		apitest.Kind{
			Ref: "core/v1/configmaps", Kind: "ConfigMap", Verbs: []string{"get", "list"},
			Columns: `[{"name":"Name","type":"string"}]`,
		})...)
}

// An owner reference refers only to an object with the same UID, and not to a newer object with the same name.
//
// Invariant: I27.
func TestRelatedOwnerMustHaveTheSameUID(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.addDeployment(1)
		b.api.Set(podsRef, apitest.Item{
			Namespace: "shop", Name: "orphan",
			Metadata: ownerReference("ReplicaSet", "web-1", "gone") + `,"labels":{"app":"orphan"}`,
		})
		b.api.Set(podsRef, apitest.Item{Namespace: "shop", Name: "stranger", Metadata: ownerReference("Job", "none", "x")})
		synctest.Wait()
		b.wantSame("the orphan", b.getRelated(podsRef+"/shop/orphan").nodeStates(), podsID+"orphan there",
			"apps/replicasets/shop/web-1@gone missing")
		b.wantSame("what is owned", b.getRelated("apps/v1/replicasets/shop/web-1").edgeTexts(),
			webID+" owns apps/replicasets/shop/web-1",
			"apps/replicasets/shop/web-1 owns "+podsID+"web-1-000",
			"core/services/shop/web selects "+podsID+"web-1-000",
			"policy/poddisruptionbudgets/shop/web selects "+podsID+"web-1-000")
		graph := b.getRelated(podsRef + "/shop/stranger")
		if n := graph.Nodes[1]; n.State != "unknown" || n.Ref != "" || !strings.Contains(n.Reason, "Kind Job of ") {
			b.t.Errorf("an owner of a kind that is not served is %+v", n)
		}
	}, relatedKinds()...)
}

func TestRelatedProblems(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, want := range map[string]string{
		podsRef + "/a/none": "Not found", podsRef + "/_/web-1": "Invalid object reference",
		"core/v1/none/a/b":           "Unknown resource",
		podsRef + "/a/%2e%2e":        "Invalid name",
		podsRef + "/a/web-1?depth=2": "Unknown parameter",
	} {
		a := s.get("/api/v1/related/" + path)
		s.wantProblem(path, a, a.status, want, "")
		if a.status < 400 || a.status > 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}
