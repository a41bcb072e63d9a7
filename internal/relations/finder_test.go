package relations_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/relations"
)

// folded returns the nodes that represent several objects, each as "namespace kind count".
func folded(g *relations.Graph) (all []string) {
	for _, n := range g.Nodes {
		if n.Count > 0 {
			all = append(all, fmt.Sprint(n.Namespace, " ", n.Kind, " ", n.Count))
		}
	}
	return all
}

func countOf(g *relations.Graph, kind string) (count int) {
	for _, n := range g.Nodes {
		if n.Kind == kind && n.Count == 0 {
			count++
		}
	}
	return count
}

func (c *testCluster) addPods(namespace, prefix string, count int, metadata, rest string) {
	for n := range count {
		c.add(object{fmt.Sprintf("%s/%s/%s%03d", pods, namespace, prefix, n), metadata, rest})
	}
}

// Of the objects with the same kind, namespace and owner, 20 have a node each. All other such objects share one node.
//
// Invariant: I27.
func TestSimilarObjectsShareANode(t *testing.T) {
	const self = backups + "/a/x"
	runs := func(name string, add func(c *testCluster), path string, own int, want ...string) {
		t.Run(name, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				add(c)
				g := c.graph(t, path)
				wantSame(t, folded(g), want...)
				if got := countOf(g, "Pod"); got != own {
					t.Errorf("%d pods have their own node, want %d", got, own)
				}
				if g.Truncated {
					t.Error("the graph is truncated")
				}
			})
		})
	}
	runs("20 have their own", func(c *testCluster) {
		c.add(object{path: self})
		c.addPods("a", "p", 20, ownedBy(self), "")
	}, self, 20)
	runs("others of one owner", func(c *testCluster) {
		c.add(object{path: self})
		c.addPods("a", "p", 25, ownedBy(self), "")
	}, self, 20, "a Pod 5")
	runs("per owner", func(c *testCluster) {
		c.add(object{path: self})
		for _, name := range []string{"r", "s"} {
			c.add(object{replicaSets + "/a/" + name, ownedBy(self), ""})
			c.addPods("a", name, 22, ownedBy(replicaSets+"/a/"+name), "")
		}
	}, self, 40, "a Pod 2", "a Pod 2")
	runs("per namespace", func(c *testCluster) {
		c.add(object{path: nodes + "/_/n"})
		c.addPods("a", "p", 23, "", `"spec":{"nodeName":"n"}`)
		c.addPods("b", "p", 21, "", `"spec":{"nodeName":"n"}`)
	}, nodes+"/_/n", 40, "a Pod 3", "b Pod 1")
	runs("fewer per owner, of many owners", func(c *testCluster) {
		c.add(object{services + "/a/s", "", `"spec":{"selector":{"app":"web"}}`})
		for n := range 30 {
			owner := fmt.Sprintf("%s/a/b%02d", backups, n)
			c.addPods("a", fmt.Sprintf("p%02d-", n), 5, ownedBy(owner)+","+labelled("web"), "")
		}
	}, services+"/a/s", 4*30, slices.Repeat([]string{"a Pod 1"}, 30)...)
	runs("but not the ones that the object names", func(c *testCluster) {
		c.add(object{self, "", `"spec":{"podRef":{"kind":"Pod","apiVersion":"v1","name":"p029"}}`})
		c.addPods("a", "p", 30, ownedBy(self), "")
	}, self, 21, "a Pod 9")
}

// A node for several objects has the edges of all of them.
func TestSharedNodeHasTheEdgesOfItsObjects(t *testing.T) {
	inCluster(t, kinds(), func(c *testCluster) {
		t := c.t
		const self = replicaSets + "/a/r"
		c.add(object{path: self}, object{services + "/a/s", "", `"spec":{"selector":{"app":"web"}}`})
		c.addPods("a", "p", 30, ownedBy(self)+","+labelled("web"), "")
		g := c.graph(t, self)
		id := "core/pods/a/+" + self
		want := relations.Node{ID: id, Ref: pods, Kind: "Pod", Namespace: "a", State: relations.Present, Count: 10}
		if got := node(t, g, id); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		for _, edge := range []string{"apps/replicasets/a/r owns " + id, "core/services/a/s selects " + id} {
			if !slices.Contains(edges(g), edge) {
				t.Errorf("no edge %q in %q", edge, edges(g))
			}
		}
	})
}

// An object is part of the count of a shared node, or has its own node, but never both.
//
// Invariant: I27.
func TestObjectsAreCountedOnce(t *testing.T) {
	inCluster(t, kinds(), func(c *testCluster) {
		t := c.t
		const self = deployments + "/a/d"
		c.add(object{self, "", selectsWeb})
		for n := range 25 {
			c.add(object{fmt.Sprintf("%s/a/r%02d", replicaSets, n), ownedBy(self), ""})
		}
		// The Deployment selects these pods. Their owner r24 is one of the ReplicaSets that the graph shows as one node.
		c.addPods("a", "p", 2, ownedBy(replicaSets+"/a/r24")+","+labelled("web"), "")
		g := c.graph(t, self)
		if got := countOf(g, "ReplicaSet"); got != 20 {
			t.Errorf("%d ReplicaSets have their own node, want 20", got)
		}
		wantSame(t, folded(g), "a ReplicaSet 5")
		for _, pod := range []string{"core/pods/a/p000", "core/pods/a/p001"} {
			if edge := "apps/replicasets/a/+" + self + " owns " + pod; !slices.Contains(edges(g), edge) {
				t.Errorf("no edge %q in %q", edge, edges(g))
			}
		}
	})
}

// Invariant: I27.
func TestNodesAreLimited(t *testing.T) {
	t.Run("users", func(t *testing.T) {
		inCluster(t, kinds(), func(c *testCluster) {
			t := c.t
			c.add(object{services + "/a/s", "", `"spec":{"selector":{"app":"web"}}`})
			for n := range 250 { // Each pod has a different owner.
				c.addPods("a", fmt.Sprintf("p%03d-", n), 1, ownedBy(fmt.Sprint(backups, "/a/b", n))+","+labelled("web"), "")
			}
			if g := c.graph(t, services+"/a/s"); len(g.Nodes) != 200 || !g.Truncated {
				t.Errorf("got %d nodes, truncated: %t, want 200, true", len(g.Nodes), g.Truncated)
			}
		})
	})
	t.Run("used objects", func(t *testing.T) {
		inCluster(t, kinds(), func(c *testCluster) {
			t := c.t
			var sources []string
			for n := range 250 {
				sources = append(sources, fmt.Sprintf(`{"configMapRef":{"name":"c%d"}}`, n))
			}
			c.add(object{pod, "", `"spec":{"containers":[{"envFrom":[` + strings.Join(sources, ",") + `]}]}`})
			if g := c.graph(t, pod); len(g.Nodes) != 200 || !g.Truncated {
				t.Errorf("got %d nodes, truncated: %t, want 200, true", len(g.Nodes), g.Truncated)
			}
		})
	})
}
