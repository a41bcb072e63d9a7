package web_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
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
		b.t.Fatalf("related objects of %s: got %d %s, error %v", object, response.StatusCode, text, err)
	}
	g := new(relatedGraph)
	if err := json.Unmarshal(text, g); err != nil {
		b.t.Fatal(err)
	}
	ids := make(map[string]bool)
	for _, n := range g.Nodes {
		if ids[n.ID] {
			b.t.Errorf("%s: node %s occurs twice", object, n.ID)
		}
		ids[n.ID] = true
	}
	for _, edge := range g.Edges {
		if !ids[edge.From] || !ids[edge.To] {
			b.t.Errorf("%s: edge %v has an end that is not a node", object, edge)
		}
	}
	return g
}

// nodeStates returns each node as "id state", or "id state count" for a group.
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
		kind("core/v1/namespaces", "Namespace", true), kind("core/v1/services", "Service", false),
		kind("core/v1/configmaps", "ConfigMap", false), kind("core/v1/secrets", "Secret", false),
		kind("apps/v1/deployments", "Deployment", false), kind("apps/v1/replicasets", "ReplicaSet", false),
		kind("policy/v1/poddisruptionbudgets", "PodDisruptionBudget", false),
		kind("autoscaling/v2/horizontalpodautoscalers", "HorizontalPodAutoscaler", false),
	}
}

func ownerReference(kind, name, uid string) string {
	return fmt.Sprintf(`"ownerReferences":[{"apiVersion":"apps/v1","kind":%q,"name":%q,"uid":%q,"controller":true}]`,
		kind, name, uid)
}

// addDeployment adds a Deployment with two pods, objects that are related to it, and objects that are not.
func (b *bubble) addDeployment() {
	set := func(ref, name, metadata, rest string) {
		b.api.Set(ref, apitest.Item{
			Namespace: "shop", Name: name, UID: ref + "/" + name, Metadata: metadata, Rest: rest,
		})
	}
	b.api.Set("core/v1/namespaces", apitest.Item{Name: "shop"})
	set("apps/v1/deployments", "web", "",
		`"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"spec":{"containers":[{"envFrom":[
		{"configMapRef":{"name":"env"}},{"secretRef":{"name":"none"}}]}]}}}`)
	set("apps/v1/replicasets", "web-1", ownerReference("Deployment", "web", "apps/v1/deployments/web"),
		`"spec":{"selector":{"matchLabels":{"app":"web"}}}`)
	for n := range 2 {
		set(podsRef, fmt.Sprintf("web-1-%03d", n),
			ownerReference("ReplicaSet", "web-1", "apps/v1/replicasets/web-1")+`,"labels":{"app":"web"}`, "")
	}
	set(podsRef, "other", `"labels":{"app":"other"}`, "")
	set("core/v1/services", "web", "", `"spec":{"selector":{"app":"web"}}`)
	set("core/v1/services", "other", "", `"spec":{"selector":{"app":"other"}}`)
	b.api.Set("core/v1/services", apitest.Item{Namespace: "b", Name: "web", Rest: `"spec":{"selector":{"app":"web"}}`})
	set("policy/v1/poddisruptionbudgets", "web", "", `"spec":{"selector":{"matchLabels":{"app":"web"}}}`)
	set("autoscaling/v2/horizontalpodautoscalers", "web", "",
		`"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}`)
	set("core/v1/configmaps", "env", "", "")
}

const (
	podsID = "core/pods/shop/"
	webID  = "apps/deployments/shop/web"
)

// Invariant: I27.
func TestRelatedGraphContainsNeighborsOfDeployment(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.addDeployment()
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
			b.t.Errorf("first node is %+v, truncated: %t", first, g.Truncated)
		}
		for _, e := range g.Edges {
			if e.To == "core/configmaps/shop/env" && e.Via != "spec.template.spec.containers.envFrom.configMapRef" {
				b.t.Errorf("the ConfigMap is used via %q, want envFrom", e.Via)
			}
		}
	}, relatedKinds()...)
}

// If the objects of a resource exceed the memory limit, the graph reports the resource as failed, with the reason.
func TestRelatedReportsResourcesBeyondMemory(t *testing.T) {
	skipIfShort(t)
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
	s := startSite(t, startClusterWith(t, api, budget.MinMemory))
	// A request waits only briefly until the resources are listed for the first time, so repeat the request.
	path := "/api/v1/related/core/v1/nodes/_/node-1"
	// Compare only the end of the error text, because its start depends on whether the size of the list is estimated or
	// measured.
	s.waitForText(path, "of the 24MiB for watched objects")
}

func TestInvalidRelatedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, want := range map[string]string{
		podsRef + "/a/none": "Not found", podsRef + "/_/web-1": "Invalid object reference",
		"core/v1/none/a/b":           "Unknown resource",
		podsRef + "/a/%2e%2e":        "Invalid name",
		podsRef + "/a/web-1?depth=2": "Unknown parameter",
	} {
		t.Run(path, func(t *testing.T) {
			s := s.forRow(t)
			a := s.get("/api/v1/related/" + path)
			s.wantProblem(path, a, a.status, want, "")
			if a.status < 400 || a.status > 404 {
				t.Errorf("got status %d, want 400 to 404", a.status)
			}
		})
	}
}
