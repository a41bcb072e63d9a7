package cause_test

import (
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// withoutPods is a cluster of which not all pods are known.
type withoutPods struct{ *cluster }

func (w withoutPods) Find(id graph.ID) neighbor.Neighbor {
	if id.Kind.Kind == "Pod" && id.Name() == "" {
		return neighbor.Neighbor{ID: id, Resource: ref(id.Kind)}
	}
	return w.cluster.Find(id)
}

// A server is not reported for its small shared memory if it possibly has further pods.
func TestMemoryOfUnknownPods(t *testing.T) {
	c, _ := load(t, "testdata/pod-shared-memory.yaml")
	if v := cause.Of(withoutPods{c}, c.Find(graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "client"))); v != nil {
		t.Errorf("got %s", describe(*v))
	}
}

// following is a cluster that records the objects whose changes make the engine evaluate the subject again.
type following struct {
	*cluster

	followed []graph.ID
}

func (f *following) Named(by graph.ID, m *neighbor.Mention) []neighbor.Neighbor {
	found := f.cluster.Named(by, m)
	for n := range found {
		f.followed = append(f.followed, found[n].ID)
	}
	return found
}

// A pod is evaluated again after a change of an object that its explanation depends on.
func TestPodFollowsObjectsOfItsExplanation(t *testing.T) {
	pod, service, namespace := graph.Kind{Kind: "Pod"}, graph.Kind{Kind: "Service"}, graph.Kind{Kind: "Namespace"}
	node := graph.Kind{Kind: "Node"}
	for _, test := range []struct {
		file string
		pod  graph.ID
		want graph.ID
	}{
		{"pod-shared-memory", graph.NewID(pod, "shop", "server-address"), graph.NewID(service, "shop", "large")},
		{"pod-network-policy", graph.NewID(pod, "other", "report"), graph.NewID(namespace, "", "other")},
		{"pod-network-policy", graph.NewID(pod, "shop", "egress"), graph.NewID(namespace, "", "shop")},
		{"pod-service-proxy-failed", graph.NewID(pod, "shop", "working-proxy"), graph.NewID(pod, "kube-system", "proxy-2")},
		{"driver-not-registered", graph.NewID(pod, "shop", "on-tainted"), graph.NewID(node, "", "n1")},
		{"pod-only-labeled-node", graph.NewID(pod, "shop", "gpu"), graph.NewID(node, "", "n1")},
	} {
		t.Run(test.pod.Name(), func(t *testing.T) {
			c, _ := load(t, "testdata/"+test.file+".yaml")
			f := &following{cluster: c}
			cause.Of(f, c.Find(test.pod))
			if !slices.Contains(f.followed, test.want) {
				t.Errorf("got followed objects %v, want %v", f.followed, test.want)
			}
		})
	}
}
