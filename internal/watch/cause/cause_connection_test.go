package cause_test

import (
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// partlyKnown is a cluster of which not all objects of a kind are known.
type partlyKnown struct {
	*cluster

	kind string
}

func (p partlyKnown) Find(id graph.ID) neighbor.Neighbor {
	if id.Kind.Kind == p.kind && id.Name() == "" {
		return neighbor.Neighbor{ID: id, Resource: ref(id.Kind)}
	}
	return p.cluster.Find(id)
}

// A server is not reported for its small shared memory if it possibly has further pods.
func TestMemoryOfUnknownPods(t *testing.T) {
	c, _ := load(t, "testdata/pod-shared-memory.yaml")
	if v := cause.Of(partlyKnown{c, "Pod"}, c.Find(graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "client"))); v != nil {
		t.Errorf("got %s", describe(*v))
	}
}

// A policy of a mesh is not reported if another policy, or a pod without a proxy, is possibly unknown.
func TestMutualTLSOfUnknownObjects(t *testing.T) {
	for _, kind := range []string{"Pod", "PeerAuthentication"} {
		t.Run(kind, func(t *testing.T) {
			c, _ := load(t, "testdata/pod-mutual-tls.yaml")
			id := graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "outside")
			if v := cause.Of(partlyKnown{c, kind}, c.Find(id)); v != nil {
				t.Errorf("got %s", describe(*v))
			}
		})
	}
}

// A policy that does not permit a client is not reported unless all pods, policies and VirtualServices are known.
func TestAccessDeniedByUnknownObjects(t *testing.T) {
	for _, kind := range []string{"Pod", "AuthorizationPolicy", "VirtualService"} {
		t.Run(kind, func(t *testing.T) {
			c, _ := load(t, "testdata/pod-access-denied.yaml")
			id := graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "to-pricing")
			if v := cause.Of(partlyKnown{c, kind}, c.Find(id)); v != nil {
				t.Errorf("got %s", describe(*v))
			}
		})
	}
}

// The name of a host near an address is not used if the address is possibly that of an unknown Service.
func TestHostWithAddressOfUnknownService(t *testing.T) {
	c, _ := load(t, "testdata/pod-host-with-address.yaml")
	c.evaluate(t)
	id := graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "in-settings")
	if v := cause.Of(partlyKnown{c, "Service"}, c.Find(id)); v != nil {
		t.Errorf("got %s", describe(*v))
	}
}

// A webhook is not reported for an error in a match condition if another webhook is possibly unknown.
func TestMatchConditionOfUnknownWebhooks(t *testing.T) {
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		t.Run(kind, func(t *testing.T) {
			c, _ := load(t, "testdata/webhook-match-condition.yaml")
			id := graph.NewID(graph.Kind{Group: "apps", Kind: "ReplicaSet"}, "shop", "web")
			if v := cause.Of(partlyKnown{c, kind}, c.Find(id)); v != nil {
				t.Errorf("got %s", describe(*v))
			}
		})
	}
}

// A server is not reported as the cause of a failed mount if it possibly has a ready pod.
func TestMountServerWithUnknownPods(t *testing.T) {
	c, _ := load(t, "testdata/pod-volume-request-failed.yaml")
	id := graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "with-namespace")
	if v := cause.Of(partlyKnown{c, "Pod"}, c.Find(id)); v == nil || v.Cause != nil {
		t.Errorf("got %+v, want a verdict without a cause", v)
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
	policy := graph.Kind{Group: "security.istio.io", Kind: "PeerAuthentication"}
	access := graph.Kind{Group: "security.istio.io", Kind: "AuthorizationPolicy"}
	binding := graph.Kind{Group: "elbv2.k8s.aws", Kind: "TargetGroupBinding"}
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
		{"pod-mutual-tls", graph.NewID(pod, "shop", "outside"), graph.NewID(policy, "shop", "default")},
		{"pod-access-denied", graph.NewID(pod, "shop", "to-pricing"), graph.NewID(access, "shop", "pricing")},
		{"pod-load-balancer-target", graph.NewID(pod, "shop", "unhealthy"), graph.NewID(binding, "shop", "api-2a3b")},
		{"pod-secrets-provider", graph.NewID(pod, "shop", "on-tainted"), graph.NewID(node, "", "n1")},
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

// A problem is evaluated again after a change of one of several webhooks with the same match condition: another one is
// then possibly the only one.
func TestMatchConditionFollowsAllWebhooks(t *testing.T) {
	c, _ := load(t, "testdata/webhook-match-condition.yaml")
	f := &following{cluster: c}
	cause.Of(f, c.Find(graph.NewID(graph.Kind{Group: "apps", Kind: "ReplicaSet"}, "shop", "two")))
	for kind, name := range map[string]string{
		"MutatingWebhookConfiguration": "two-a", "ValidatingWebhookConfiguration": "two-b",
	} {
		id := graph.NewID(graph.Kind{Group: "admissionregistration.k8s.io", Kind: kind}, "", name)
		if !slices.Contains(f.followed, id) {
			t.Errorf("got followed objects %v, want %v", f.followed, id)
		}
	}
}
