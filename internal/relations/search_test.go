package relations_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/relations"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// A graph lists the kinds that could not be searched. Objects of these kinds can be missing from the graph.
//
// Invariant: I27.
func TestStateOfASearchedKind(t *testing.T) {
	const budgets = "policy/v1/poddisruptionbudgets"
	for _, test := range []struct {
		name  string
		setup func(*apitest.Server)
		ref   string
		want  status.State
		part  string // Part of the reason in the status of the searched kind.
		found bool   // Whether the PodDisruptionBudget that selects the pod is in the graph.
	}{
		{"live", func(*apitest.Server) {}, budgets, status.Live, "", true},
		{
			"forbidden", func(s *apitest.Server) { s.Refuse(budgets, "", http.StatusForbidden, "not for you") },
			budgets, status.Forbidden, "not for you", false,
		},
		{"syncing", func(s *apitest.Server) { s.HangStreamingLists(budgets) }, budgets, status.Syncing, "", false},
		{
			"failed", func(s *apitest.Server) { s.FailStreamingLists(budgets, "webhook is away") },
			budgets, status.Failed, "webhook is away", false,
		},
		{
			"not served", func(s *apitest.Server) { s.RemoveKind(budgets) },
			"policy/poddisruptionbudgets", status.Absent, "Not available in this cluster.", false,
		},
		{
			"without lists",
			func(s *apitest.Server) {
				s.RemoveKind(budgets)
				s.AddKind(apitest.Kind{Ref: budgets, Kind: "PodDisruptionBudget", Verbs: []string{"get"}})
			},
			budgets, status.Failed, "cannot be listed: the API supports only the verbs get", false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inServer(t, kinds(), test.setup, func(c *testCluster) {
				t := c.t
				c.add(object{pod, labelled("web"), ""})
				if test.ref == budgets {
					c.add(object{budgets + "/a/b", "", selectsWeb})
				}
				g := c.graph(t, pod)
				if s := searched(t, g, test.ref); s.State != test.want || !strings.Contains(s.Reason, test.part) {
					t.Errorf("the budgets are %+v, want %s: %s", s, test.want, test.part)
				}
				if got := len(g.Edges) == 1; got != test.found {
					t.Errorf("the edges are %q", edges(g))
				}
			})
		})
	}
}

// Relations of a namespaced object are searched only in its namespace, so permissions for one namespace are enough.
func TestSearchIsLimitedToTheNamespace(t *testing.T) {
	inCluster(t, kinds(), func(c *testCluster) {
		t := c.t
		c.server.Refuse(pods, "", http.StatusForbidden, "only in a")
		c.server.Refuse(pods, "a", 0, "only in a")
		// If the program could list namespaces, it would watch the pods of each permitted namespace. The test would then
		// pass even if the search was not limited to one namespace.
		c.server.Refuse(namespaces, "", http.StatusForbidden, "no namespaces for you")
		c.add(object{path: configMaps + "/a/x"},
			object{pod, "", `"spec":{"volumes":[{"configMap":{"name":"x"}}]}`})
		g := c.graph(t, configMaps+"/a/x")
		wantSame(t, edges(g), "core/pods/a/p uses core/configmaps/a/x")
		if s := searched(t, g, pods); s.State != status.Live || s.Namespaces != nil {
			t.Errorf("the pods are %+v, want live in all requested namespaces", s)
		}
	})
}

// A graph contains only objects that the user is permitted to read. It does not claim that other objects are missing.
//
// Invariant: I27.
func TestGraphIsLimitedToThePermissionsOfTheUser(t *testing.T) {
	user := watch.Viewer{User: &authz.User{Name: "ann"}}
	// The user ann can read persistent volumes, and all objects in namespace "a" except Secrets.
	allowed := func(spec authorization.SubjectAccessReviewSpec) bool {
		a := spec.ResourceAttributes
		return spec.User == "ann" && (a.Namespace == "a" && a.Resource != "secrets" || a.Resource == "persistentvolumes")
	}
	for _, test := range []struct {
		name         string
		objects      []object // The first one is the object whose graph is checked.
		nodes, edges []string
		reasons      map[string]string // The expected reasons, by the ID of a node or the ref of a searched kind.
	}{
		{
			name: "used objects",
			objects: []object{
				{pod, "", `"spec":{"nodeName":"n","volumes":[{"configMap":{"name":"x"}},{"secret":{"secretName":"x"}},` +
					`{"secret":{"secretName":"none"}}]}`},
				{configMaps + "/a/x", "", ""},
				{secrets + "/a/x", "", ""},
				{nodes + "/_/n", "", ""},
			},
			nodes: []string{
				"core/pods/a/p there", "core/nodes/_/n forbidden", "core/configmaps/a/x there", "core/secrets/a/x forbidden",
				"core/secrets/a/none forbidden",
			},
			edges: []string{
				"core/pods/a/p uses core/nodes/_/n", "core/pods/a/p uses core/configmaps/a/x",
				"core/pods/a/p uses core/secrets/a/x", "core/pods/a/p uses core/secrets/a/none",
			},
			reasons: map[string]string{
				"core/secrets/a/x": `You cannot get Secrets in the namespace "a".`,
				"core/nodes/_/n":   "You cannot get Nodes at the cluster scope.",
			},
		},
		{
			name: "users in other namespaces",
			objects: []object{
				{
					"core/v1/persistentvolumes/_/v", "",
					`"spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"b","name":"c"}}`,
				},
				{"core/v1/persistentvolumeclaims/b/c", "", `"spec":{"volumeName":"v"}`},
				{"core/v1/persistentvolumeclaims/a/d", "", `"spec":{"volumeName":"v"}`},
			},
			nodes: []string{
				"core/persistentvolumes/_/v there", "core/persistentvolumeclaims/b/c forbidden",
				"core/persistentvolumeclaims/a/d there",
			},
			edges: []string{
				"core/persistentvolumes/_/v uses core/persistentvolumeclaims/b/c",
				"core/persistentvolumeclaims/a/d uses core/persistentvolumes/_/v",
			},
			reasons: map[string]string{"storage.k8s.io/v1/volumeattachments": "You cannot list VolumeAttachments"},
		},
		{
			name: "owned objects",
			objects: []object{
				{path: backups + "/a/x"},
				{secrets + "/a/s", ownedBy(backups + "/a/x"), ""},
				{configMaps + "/a/c", ownedBy(backups + "/a/x"), ""},
			},
			nodes:   []string{"example.com/backups/a/x there", "core/configmaps/a/c there"},
			edges:   []string{"example.com/backups/a/x owns core/configmaps/a/c"},
			reasons: map[string]string{secrets: `You cannot list Secrets in the namespace "a".`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(test.objects...)
				c.server.Allow(allowed)
				for _, o := range test.objects { // First, read all graphs as the program, which starts all watches.
					c.graph(t, o.path)
				}
				c.as(user)
				g := c.graph(t, test.objects[0].path)
				wantSame(t, nodeStates(g), test.nodes...)
				wantSame(t, edges(g), test.edges...)
				wantReasons(t, g, test.reasons)
			})
		})
	}
}

// wantReasons verifies that each node or searched kind in want has the state Forbidden, and the given text in its
// reason. The key of want is the node's ID, or the ref of the kind.
func wantReasons(t *testing.T, g *relations.Graph, want map[string]string) {
	t.Helper()
	for key, reason := range want {
		got := ""
		for _, n := range g.Nodes {
			if n.ID == key && n.State == relations.Forbidden {
				got = n.Reason
			}
		}
		for _, s := range g.Searched {
			if s.Ref == key && s.State == status.Forbidden {
				got = s.Reason
			}
		}
		if !strings.Contains(got, reason) || got == "" {
			t.Errorf("the reason of %s is %q, want %q", key, got, reason)
		}
	}
}

// A guest, a viewer of a share link, does not learn which other objects and kinds exist.
//
// Invariant: I27.
func TestGraphOfAGuestIsLimitedToTheLink(t *testing.T) {
	podPart := watch.Part{Resource: pods, Namespaces: []string{"a"}}
	for _, test := range []struct {
		name         string
		parts        []watch.Part
		setup        func(*apitest.Server)
		objects      []object // The first one is the object whose graph is checked.
		nodes, edges []string
		reason       string // Start of the reason of all nodes except the first.
	}{
		{
			name: "kinds that the link does not include, or the cluster does not serve", parts: []watch.Part{podPart},
			objects: []object{
				{pod, ownedBy("gone.com/v1/things/a/g") + "," + labelled("web"), `"spec":{"configMapRef":{"name":"x"}}`},
				{configMaps + "/a/x", "", ""},
				{services + "/a/s", "", `"spec":{"selector":{"app":"web"}}`},
			},
			nodes:  []string{"core/pods/a/p there", "gone.com/Gone/a/g forbidden", "core/ConfigMap/a/x forbidden"},
			edges:  []string{"gone.com/Gone/a/g owns core/pods/a/p", "core/pods/a/p uses core/ConfigMap/a/x"},
			reason: "This link does not include kind ",
		},
		{
			name:  "objects that the link does not include",
			parts: []watch.Part{podPart, {Resource: configMaps, Namespaces: []string{"a"}, Name: "shared"}},
			objects: []object{
				{pod, "", `"spec":{"volumes":[{"configMap":{"name":"there"}},{"configMap":{"name":"missing"}}]}`},
				{configMaps + "/a/there", "", ""},
			},
			nodes: []string{
				"core/pods/a/p there", "core/configmaps/a/there forbidden", "core/configmaps/a/missing forbidden",
			},
			edges: []string{
				"core/pods/a/p uses core/configmaps/a/there", "core/pods/a/p uses core/configmaps/a/missing",
			},
			reason: "The share link does not include the requested data.",
		},
		{
			name: "objects of a searched kind that the link does not include",
			parts: []watch.Part{
				{Resource: pods, Namespaces: []string{"a"}, Labels: "app=web"}, {Resource: slicesRef},
			},
			objects: []object{
				{slicesRef + "/a/s", "", `"endpoints":[{"targetRef":{"kind":"Pod","name":"hidden"}},` +
					`{"targetRef":{"kind":"Pod","name":"none"}}]`},
				{pods + "/a/hidden", labelled("db"), ""},
			},
			nodes: []string{
				"discovery.k8s.io/endpointslices/a/s there", "core/pods/a/hidden forbidden", "core/pods/a/none forbidden",
			},
			edges: []string{
				"discovery.k8s.io/endpointslices/a/s uses core/pods/a/hidden",
				"discovery.k8s.io/endpointslices/a/s uses core/pods/a/none",
			},
			reason: "The share link does not include the requested data.",
		},
		{
			name: "objects of a kind that is searched in all namespaces, without those that the link does not include",
			parts: []watch.Part{
				{Resource: "core/v1/persistentvolumes"},
				{Resource: "core/v1/persistentvolumeclaims", Labels: "app=web"},
			},
			objects: []object{
				{
					"core/v1/persistentvolumes/_/v", "",
					`"spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"b","name":"hidden"}}`,
				},
				{"core/v1/persistentvolumeclaims/b/hidden", labelled("db"), `"spec":{"volumeName":"v"}`},
			},
			nodes:  []string{"core/persistentvolumes/_/v there", "core/persistentvolumeclaims/b/hidden forbidden"},
			edges:  []string{"core/persistentvolumes/_/v uses core/persistentvolumeclaims/b/hidden"},
			reason: "The share link does not include the requested data.",
		},
		{
			name: "messages of the API server", parts: []watch.Part{podPart, {Resource: configMaps}},
			setup: func(s *apitest.Server) {
				s.MakeUnavailable("/api/v1/namespaces/a/configmaps/x", "etcd-7.internal is away")
			},
			objects: []object{{pod, "", `"spec":{"volumes":[{"configMap":{"name":"x"}}]}`}},
			nodes:   []string{"core/pods/a/p there", "core/configmaps/a/x unknown"},
			edges:   []string{"core/pods/a/p uses core/configmaps/a/x"},
			reason:  "a/x cannot be read now.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(test.objects...)
				if test.setup != nil {
					test.setup(c.server)
				}
				c.as(watch.Viewer{Program: true, Scope: &watch.Scope{Parts: test.parts}})
				g := c.graph(t, test.objects[0].path)
				wantSame(t, nodeStates(g), test.nodes...)
				wantSame(t, edges(g), test.edges...)
				for _, n := range g.Nodes[1:] {
					if !strings.HasPrefix(n.Reason, test.reason) {
						t.Errorf("the reason of %s is %q, want %q", n.ID, n.Reason, test.reason)
					}
				}
				for _, s := range g.Searched {
					shared := slices.ContainsFunc(test.parts, func(p watch.Part) bool { return p.Resource == s.Ref })
					// A ref with a version (example.com/v1/widgets) must not appear: it shows that the cluster serves the kind.
					if !shared && (strings.Contains(s.Ref, "/v1/") || s.State != status.Forbidden ||
						s.Reason != "Not included in this link.") {
						t.Errorf("the guest learns about %+v", s)
					}
				}
			})
		})
	}
}
