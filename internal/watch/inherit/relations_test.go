package inherit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// A change of an EndpointSlice affects its Service, and all objects that use this Service. Without a label that names
// the Service, it affects each Service whose name is a possible start of the EndpointSlice's name.
func TestEndpointSliceAffectsUsersOfItsService(t *testing.T) {
	e := New(Options{})
	e.setServed([]resource.Resource{
		{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true, Preferred: true},
		{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses", Kind: "Ingress", Namespaced: true},
		{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices", Kind: "EndpointSlice", Namespaced: true},
	}, nil, 0, 0)
	slice := graph.NewID(graph.Kind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}, "a", "db-blue-1")
	service := graph.NewID(graph.Kind{Kind: "Service"}, "a", "db")
	ingress := graph.NewID(graph.Kind{Group: "networking.k8s.io", Kind: "Ingress"}, "a", "web")
	e.graph.Set(slice, &objectrefs.Object{})
	want := []graph.ID{
		graph.NewID(service.Kind, "a", "db-blue-1"), graph.NewID(service.Kind, "a", "db-blue"), service,
	}
	if got := revisit.Served(e.graph, slice); !slices.Equal(got, want) {
		t.Errorf("without a label: got %v, want %v", got, want)
	}
	use := objectrefs.Object{Uses: []objectrefs.Ref{{Kind: "Service", Name: "db"}}}
	e.graph.Set(slice, &use)
	e.graph.Set(ingress, &use)
	got := revisit.Served(e.graph, slice)
	if !slices.Contains(got, service) || !slices.Contains(got, ingress) {
		t.Errorf("got %v, want the Service and the Ingress", got)
	}
}

// After a CustomResourceDefinition was deleted or created, admission policies and their bindings are evaluated again,
// because the policies can have parameters of the defined kind. Custom resources are also evaluated again, because they
// can name an object of this kind. If discovery finds the same kinds, nothing is evaluated again.
func TestServedKindsAffectOthers(t *testing.T) {
	e := New(Options{})
	kind := func(name string) graph.Kind { return graph.Kind{Group: admissionGroup, Kind: name} }
	policy := graph.NewID(kind("ValidatingAdmissionPolicy"), "", "limits")
	binding := graph.NewID(kind("ValidatingAdmissionPolicyBinding"), "", "limits")
	builtIn := []resource.Resource{
		{Group: admissionGroup, Version: "v1", Resource: "validatingadmissionpolicies", Kind: policy.Kind.Kind},
		{Group: admissionGroup, Version: "v1", Resource: "validatingadmissionpolicybindings", Kind: binding.Kind.Kind},
	}
	custom := resource.Resource{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget"}
	all := append(slices.Clone(builtIn), custom)
	for _, step := range []struct {
		name      string
		resources []resource.Resource
		want      int
	}{
		{"the first discovery", all, 0},
		{"the same kinds", slices.Clone(all), 0},
		{"a deleted kind", builtIn, 3},
		{"a new kind", all, 3},
		{"the same kinds again", all, 0},
	} {
		if e.setServed(step.resources, nil, 0, 0) {
			markAfterDiscovery(e)
		}
		if got := e.queue.Take(); len(got) != step.want {
			t.Errorf("%s: got %v, want %d objects", step.name, got, step.want)
		}
		e.graph.Set(graph.NewID(graph.Kind{Group: "example.org", Kind: "Pipeline"}, "a", "web"), &objectrefs.Object{})
		e.graph.Set(graph.NewID(graph.Kind{Kind: "Pod"}, "a", "web"), &objectrefs.Object{})
		e.graph.Set(policy, &objectrefs.Object{})
		e.graph.Set(binding, &objectrefs.Object{Uses: []objectrefs.Ref{
			{Group: admissionGroup, Kind: policy.Kind.Kind, Name: "limits"},
		}})
	}
	if got := e.neighbors(binding); !slices.Contains(got, policy) {
		t.Errorf("a new binding: got %v, want the policy", got)
	}
	if got := dependsOnText(e, policy); !slices.Contains(got, binding) {
		t.Errorf("a change of the policy: got %v, want the binding", got)
	}
}

// A change of a CustomResourceDefinition, such as a version that is not served any more, affects the objects whose
// messages name it.
func TestDefinitionsAffectMentions(t *testing.T) {
	e := New(Options{})
	kind := graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	definition := graph.NewID(kind, "", "a.example.com")
	pod := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "web")
	e.mentions.Set(pod, []graph.ID{definition})
	if got := dependsOnText(e, definition); !slices.Equal(got, []graph.ID{pod}) {
		t.Errorf("got %v, want the pod", got)
	}
}

// A new Ingress affects the verdict on its Service: an Ingress can use a Service whose external name is an IP address.
func TestUsersAffectServices(t *testing.T) {
	e := New(Options{})
	e.setServed([]resource.Resource{{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true}}, nil, 0, 0)
	service := graph.NewID(graph.Kind{Kind: "Service"}, "a", "db")
	ingress := graph.NewID(graph.Kind{Group: "networking.k8s.io", Kind: "Ingress"}, "a", "web")
	e.graph.Set(ingress, &objectrefs.Object{Uses: []objectrefs.Ref{{Kind: "Service", Name: "db"}}})
	if got := e.neighbors(ingress); !slices.Contains(got, service) {
		t.Errorf("got %v, want the Service", got)
	}
}

// A change of a Service affects each Service of its namespace that has the reason NoSuchPort: this verdict also depends
// on the ports of other Services.
func TestServicesWithWrongPorts(t *testing.T) {
	e := New(Options{})
	service := graph.Kind{Kind: "Service"}
	wrong, other, elsewhere :=
		graph.NewID(service, "a", "wrong"), graph.NewID(service, "a", "other"), graph.NewID(service, "b", "wrong")
	for _, id := range []graph.ID{wrong, elsewhere} {
		e.results.Set(id, &verdict.Verdict{Severity: verdict.Degraded, Reason: "NoSuchPort"})
	}
	if got := dependsOnText(e, other); !slices.Equal(got, []graph.ID{wrong}) {
		t.Errorf("got %v, want %v", got, wrong)
	}
}

// A new PodDisruptionBudget affects the others in its namespace, because they can select the same pods.
func TestBudgetsAffectEachOther(t *testing.T) {
	e := New(Options{})
	budget := graph.Kind{Group: "policy", Kind: "PodDisruptionBudget"}
	one, two, other := graph.NewID(budget, "a", "one"), graph.NewID(budget, "a", "two"), graph.NewID(budget, "b", "one")
	for _, id := range []graph.ID{one, two, other} {
		e.graph.Set(id, &objectrefs.Object{})
	}
	if got := e.neighbors(one); !slices.Contains(got, two) || slices.Contains(got, other) {
		t.Errorf("got %v, want the budgets of the namespace", got)
	}
}

// A change of a Service, or of a pod that it selects, affects the objects whose rules have read the Service: clients
// that cannot connect to it.
func TestServersAffectClients(t *testing.T) {
	e := New(Options{})
	pod := graph.Kind{Kind: "Pod"}
	service, server := graph.NewID(graph.Kind{Kind: "Service"}, "a", "db"), graph.NewID(pod, "a", "db-1")
	client := graph.NewID(pod, "b", "web-1")
	refs := objectrefs.Of([]byte(`{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"a","name":"db"},` +
		`"spec":{"selector":{"app":"db"}}}`))
	e.graph.Set(service, &refs)
	e.graph.Set(server, &objectrefs.Object{Labels: map[string]string{"app": "db"}})
	e.mentions.Set(client, []graph.ID{service})
	if got := e.neighbors(server); !slices.Contains(got, client) {
		t.Errorf("a pod of the Service: got %v, want the client", got)
	}
	if got := dependsOnText(e, service); !slices.Contains(got, client) {
		t.Errorf("the Service: got %v, want the client", got)
	}
}

// A change of a policy for connections or requests affects all pods with a problem, but no other objects.
func TestPoliciesAffectPodsWithProblem(t *testing.T) {
	e := New(Options{})
	pod := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "web-1")
	problem := verdict.Pack(nil, &verdict.Verdict{Severity: verdict.Failed})
	e.results.Track(pod, problem, true)
	e.results.Track(graph.NewID(graph.Kind{Kind: "Service"}, "a", "web"), problem, true)
	for _, kind := range []graph.Kind{
		{Group: "networking.k8s.io", Kind: "NetworkPolicy"},
		{Group: "cilium.io", Kind: "CiliumNetworkPolicy"},
		{Group: "projectcalico.org", Kind: "GlobalNetworkPolicy"},
		{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"},
		{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"},
		{Group: "security.istio.io", Kind: "PeerAuthentication"},
	} {
		t.Run(kind.Kind, func(t *testing.T) {
			if got := dependsOnText(e, graph.NewID(kind, "b", "one")); !slices.Equal(got, []graph.ID{pod}) {
				t.Errorf("got %v, want %v", got, pod)
			}
		})
	}
}

// A change of a pod affects its node if the node has a problem, because the pod can explain the problem.
func TestPodsAffectNodesWithProblem(t *testing.T) {
	e := New(Options{})
	pod, node := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "web-1"), graph.NewID(graph.Kind{Kind: "Node"}, "", "n1")
	refs := objectrefs.Of([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"a","name":"web-1"},` +
		`"spec":{"nodeName":"n1"}}`))
	e.graph.Set(pod, &refs)
	for _, severity := range []verdict.Severity{verdict.OK, verdict.Failed} {
		t.Run(string(severity), func(t *testing.T) {
			e.results.Track(node, verdict.Pack(nil, &verdict.Verdict{Severity: severity}), true)
			if got, want := slices.Contains(e.neighbors(pod), node), severity == verdict.Failed; got != want {
				t.Errorf("got affected: %t, want %t", got, want)
			}
		})
	}
}

// An object of a kind that is not served is missing, unless the kinds of its group are possibly unknown.
func TestObjectsOfUnservedKinds(t *testing.T) {
	widget := graph.NewID(graph.Kind{Group: "example.com", Kind: "Widget"}, "a", "one")
	for _, test := range []struct {
		unknown []string
		want    neighbor.Presence
	}{
		{nil, neighbor.Missing},
		{[]string{"metrics.k8s.io"}, neighbor.Missing},
		{[]string{"metrics.k8s.io", "example.com"}, neighbor.Unknown},
		{[]string{resource.AnyGroup}, neighbor.Unknown},
	} {
		t.Run(fmt.Sprintf("unknown groups %q", test.unknown), func(t *testing.T) {
			e := New(Options{})
			if got := e.Find(widget).Presence; got != neighbor.Unknown {
				t.Errorf("before discovery: got %d, want Unknown", got)
			}
			e.setServed(nil, test.unknown, 0, 0)
			if got := e.Find(widget).Presence; got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

// A change of an object's content affects the objects whose messages name it, such as a pod that requires a pool of
// nodes with a limit.
func TestContentChangeAffectsObjectsThatNameTheObject(t *testing.T) {
	e := New(Options{})
	pod := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "batch-0")
	pool := graph.NewID(graph.Kind{Group: "karpenter.sh", Kind: "NodePool"}, "", "batch")
	e.mentions.Set(pod, []graph.ID{pool})
	if got := dependsOnText(e, pool); !slices.Equal(got, []graph.ID{pod}) {
		t.Errorf("got %v, want %v", got, pod)
	}
}

// A new object can be a repetition of a failed object of the same kind and namespace, if the new object has succeeded
// and has no owner.
func TestAttemptsAffectFailedOnes(t *testing.T) {
	e := New(Options{})
	kind := graph.Kind{Group: "example.com", Kind: "Migration"}
	failed := graph.NewID(kind, "a", "web-1")
	machine := graph.Kind{Group: kind.Group, Kind: "Machine"}
	others := []graph.ID{graph.NewID(kind, "b", "web-1"), graph.NewID(machine, "a", "web")}
	for _, id := range append(others, failed) {
		e.results.Track(id, verdict.Pack(nil, &verdict.Verdict{Severity: verdict.Failed}), false)
	}
	owned := objectrefs.Object{Owners: []objectrefs.Ref{{Group: kind.Group, Kind: "Plan", Name: "p", UID: "p"}}}
	for name, test := range map[string]struct {
		object *objectrefs.Object
		own    verdict.Severity
		want   []graph.ID
	}{
		"no owner":    {&objectrefs.Object{}, verdict.OK, []graph.ID{failed}},
		"not ended":   {&objectrefs.Object{}, verdict.Progressing, nil},
		"failed, too": {&objectrefs.Object{}, verdict.Failed, nil},
		"an owner":    {&owned, verdict.OK, nil},
	} {
		t.Run(name, func(t *testing.T) {
			id := graph.NewID(kind, "a", "web-2")
			e.graph.Set(id, test.object)
			if got := repeatedBy(e, id, test.own); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if got := e.neighbors(id); slices.Contains(got, failed) {
				t.Errorf("got the neighbors %v, want no other attempt", got)
			}
		})
	}
}

// A change of a Service affects the Gateways with a problem: their pods, and so their Secrets, are in the namespaces of
// the Services that select these pods.
func TestServicesAffectGatewaysWithProblem(t *testing.T) {
	e := New(Options{})
	gateway := graph.NewID(graph.Kind{Group: "networking.istio.io", Kind: "Gateway"}, "a", "web")
	other := graph.NewID(graph.Kind{Group: "gateway.networking.k8s.io", Kind: "Gateway"}, "a", "web")
	for _, id := range []graph.ID{gateway, other} {
		e.results.Track(id, verdict.Pack(nil, &verdict.Verdict{Severity: verdict.Degraded}), true)
	}
	got := dependsOnText(e, graph.NewID(graph.Kind{Kind: "Service"}, "istio", "ingress"))
	if !slices.Equal(got, []graph.ID{gateway}) {
		t.Errorf("got %v, want %v", got, gateway)
	}
}
