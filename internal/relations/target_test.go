package relations_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/relations"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const pod = pods + "/a/p"

// If the graph searches the kind of a referenced object, it finds the object in a list. Otherwise, it reads only this
// object. The graph of a pod searches EndpointSlices, but neither ConfigMaps nor ReplicaSets. The graph of an
// EndpointSlice searches pods.
//
// Invariant: I27.
func TestStateOfAReferencedObject(t *testing.T) {
	usesConfigMap := object{pod, "", `"spec":{"volumes":[{"configMap":{"name":"x"}}]}`}
	targetPod := func(namespace string) object {
		return object{
			slicesRef + "/a/s", "",
			fmt.Sprintf(`"endpoints":[{"targetRef":{"kind":"Pod","namespace":%q,"name":"x"}}]`, namespace),
		}
	}
	owned := func(path, uid string) object {
		return object{pod, `"ownerReferences":[` + ownerReference(path, uid) + `]`, ""}
	}
	const configMapPath, replicaSet = "/api/v1/namespaces/a/configmaps/x", replicaSets + "/a/x"
	for _, test := range []struct {
		name    string
		objects []object // The first one refers to the object whose node is checked.
		setup   func(*apitest.Server)
		want    relations.Node
		reason  string // Part of the node's reason.
		reads   string // Part of the path of each request for the object; empty for no request.
	}{
		{
			name:    "there, in a searched list",
			objects: []object{targetPod("a"), {pods + "/a/x", "", ""}},
			want: relations.Node{
				ID: "core/pods/a/x", Ref: pods, Kind: "Pod", Namespace: "a", Name: "x", UID: pods + "/a/x",
				State: relations.Present,
			},
		},
		{
			name:    "missing in a searched list",
			objects: []object{targetPod("a")},
			want: relations.Node{
				ID: "core/pods/a/x", Ref: pods, Kind: "Pod", Namespace: "a", Name: "x", State: relations.Missing,
			},
		},
		{
			name:    "there, in a namespace that was not searched",
			objects: []object{targetPod("b"), {pods + "/b/x", "", ""}},
			want: relations.Node{
				ID: "core/pods/b/x", Ref: pods, Kind: "Pod", Namespace: "b", Name: "x", UID: pods + "/b/x",
				State: relations.Present,
			},
		},
		{
			name:    "there, in a kind that cannot be searched",
			objects: []object{targetPod("a"), {pods + "/a/x", "", ""}},
			setup:   func(s *apitest.Server) { s.Refuse(pods, "", http.StatusForbidden, "no lists for you") },
			want: relations.Node{
				ID: "core/pods/a/x", Ref: pods, Kind: "Pod", Namespace: "a", Name: "x", UID: pods + "/a/x",
				State: relations.Present,
			},
			reads: "/api/v1/namespaces/a/pods/x",
		},
		{
			name:    "there, in a kind that is not searched",
			objects: []object{usesConfigMap, {configMaps + "/a/x", "", ""}},
			want: relations.Node{
				ID: "core/configmaps/a/x", Ref: configMaps, Kind: "ConfigMap", Namespace: "a", Name: "x",
				UID: configMaps + "/a/x", State: relations.Present,
			},
			reads: configMapPath,
		},
		{
			name:    "there, cluster-scoped",
			objects: []object{{pod, "", `"spec":{"nodeName":"x"}`}, {nodes + "/_/x", "", ""}},
			want: relations.Node{
				ID: "core/nodes/_/x", Ref: nodes, Kind: "Node", Name: "x", UID: nodes + "/_/x", State: relations.Present,
			},
			reads: "/api/v1/nodes/x",
		},
		{
			name:    "missing in a kind that is not searched",
			objects: []object{usesConfigMap},
			want: relations.Node{
				ID: "core/configmaps/a/x", Ref: configMaps, Kind: "ConfigMap", Namespace: "a", Name: "x",
				State: relations.Missing,
			},
			reads: configMapPath,
		},
		{
			name:    "forbidden",
			objects: []object{usesConfigMap, {configMaps + "/a/x", "", ""}},
			setup:   func(s *apitest.Server) { s.FailPath(configMapPath, http.StatusForbidden, "not for you") },
			want: relations.Node{
				ID: "core/configmaps/a/x", Ref: configMaps, Kind: "ConfigMap", Namespace: "a", Name: "x",
				State: relations.Forbidden,
			},
			reason: `You cannot get ConfigMaps in the namespace "a".`,
		},
		{
			name:    "unknown, as the API server fails",
			objects: []object{usesConfigMap},
			setup:   func(s *apitest.Server) { s.MakeUnavailable(configMapPath, "etcd is away") },
			want: relations.Node{
				ID: "core/configmaps/a/x", Ref: configMaps, Kind: "ConfigMap", Namespace: "a", Name: "x",
				State: relations.Unknown,
			},
			reason: "etcd is away", reads: configMapPath,
		},
		{
			name:    "unknown, as the API server rejects the credentials",
			objects: []object{usesConfigMap},
			setup:   func(s *apitest.Server) { s.FailPath(configMapPath, http.StatusUnauthorized, "expired") },
			want: relations.Node{
				ID: "core/configmaps/a/x", Ref: configMaps, Kind: "ConfigMap", Namespace: "a", Name: "x",
				State: relations.Unknown,
			},
			reason: "does not accept the credentials of this program", reads: configMapPath,
		},
		{
			name:    "unknown, as the API server does not respond",
			objects: []object{usesConfigMap},
			setup:   func(s *apitest.Server) { s.Hang(configMapPath) },
			want: relations.Node{
				ID: "core/configmaps/a/x", Ref: configMaps, Kind: "ConfigMap", Namespace: "a", Name: "x",
				State: relations.Unknown,
			},
			reason: "a/x: ", reads: configMapPath,
		},
		{
			name:    "unknown, as the kind is not served",
			objects: []object{owned("gone.com/v1/things/a/x", "uid")},
			want: relations.Node{
				ID: "gone.com/Gone/a/x", Kind: "Gone", Namespace: "a", Name: "x", UID: "uid", State: relations.Unknown,
			},
			reason: "Kind Gone of API group gone.com is not available in this cluster.",
		},
		{
			name:    "unknown, as the kind of the core group is not served",
			objects: []object{owned("core/v1/things/a/x", "uid")},
			want: relations.Node{
				ID: "core/Gone/a/x", Kind: "Gone", Namespace: "a", Name: "x", UID: "uid", State: relations.Unknown,
			},
			reason: "Kind Gone of API group core is not available in this cluster.",
		},
		{
			name:    "missing, as another object has the name",
			objects: []object{owned(replicaSet, "deleted"), {replicaSet, "", ""}},
			want: relations.Node{
				ID: "apps/replicasets/a/x@deleted", Ref: replicaSets, Kind: "ReplicaSet", Namespace: "a", Name: "x",
				UID: "deleted", State: relations.Missing,
			},
			reason: "Another object has this name.", reads: "/apis/apps/v1/namespaces/a/replicasets/x",
		},
		{
			name: "missing, as another object in a searched list has the name",
			objects: []object{
				{backups + "/a/b", `"ownerReferences":[` + ownerReference(pods+"/a/x", "deleted") + `]`, ""},
				{pods + "/a/x", "", ""},
			},
			want: relations.Node{
				ID: "core/pods/a/x@deleted", Ref: pods, Kind: "Pod", Namespace: "a", Name: "x", UID: "deleted",
				State: relations.Missing,
			},
			reason: "Another object has this name.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(test.objects...)
				if test.setup != nil {
					test.setup(c.server)
					// Skip the graph from the index of references: it needs none of the reads that fail in this test.
					c.indexed = nil
				}
				g := c.graph(t, test.objects[0].path)
				got := node(t, g, test.want.ID)
				reason := got.Reason
				got.Severity = "" // Other tests cover it.
				if got.Reason = ""; got != test.want {
					t.Errorf("got %+v\nwant %+v", got, test.want)
				}
				if !strings.Contains(reason, test.reason) || test.reason == "" && reason != "" {
					t.Errorf("the reason is %q, want %q", reason, test.reason)
				}
				requests := c.server.Requests("/x")
				if test.reads == "" && len(requests) > 0 ||
					test.reads != "" && (len(requests) == 0 || !strings.Contains(requests[0], test.reads)) {
					t.Errorf("the requests are %q, want those for %q", requests, test.reads)
				}
				if len(g.Edges) != 1 {
					t.Errorf("the edges are %q, want one", edges(g))
				}
			})
		})
	}
}

// A searched list that can be out of date does not prove that an object is missing.
//
// Invariant: I27.
func TestStaleListDoesNotProveThatAnObjectIsMissing(t *testing.T) {
	all := slices.DeleteFunc(kinds(), func(k apitest.Kind) bool { return k.Ref == configMaps })
	all = append(all, apitest.Kind{Ref: configMaps, Kind: "ConfigMap", Verbs: []string{"get", "list"}})
	inCluster(t, all, func(c *testCluster) {
		t := c.t
		uses := func(name string) object {
			return object{backups + "/a/b", "", `"spec":{"configMapRef":{"name":"` + name + `"}}`}
		}
		c.add(uses("early"), object{configMaps + "/a/early", "", ""})
		c.graph(t, backups+"/a/b") // From now on, the cluster polls ConfigMaps, because they cannot be watched.
		c.add(uses("late"), object{configMaps + "/a/late", "", ""})
		g := c.graph(t, backups+"/a/b")
		if got := node(t, g, "core/configmaps/a/late"); got.State != relations.Present || got.UID != configMaps+"/a/late" {
			t.Errorf("got %+v, want that it is read individually", got)
		}
		if s := searched(t, g, configMaps); s.State != "stale" {
			t.Errorf("the ConfigMaps are %+v, want stale", s)
		}
	})
}

func TestObjectsThatCannotBeReadIndividuallyAreUnknown(t *testing.T) {
	all := slices.DeleteFunc(kinds(), func(k apitest.Kind) bool { return k.Ref == configMaps })
	all = append(all, apitest.Kind{Ref: configMaps, Kind: "ConfigMap", Verbs: []string{"list", "watch"}})
	inCluster(t, all, func(c *testCluster) {
		t := c.t
		// Use no index of references, because with the index, the graph needs no reads of single objects.
		c.indexed = nil
		c.add(object{pod, "", `"spec":{"volumes":[{"configMap":{"name":"x"}}]}`}, object{configMaps + "/a/x", "", ""})
		got := node(t, c.graph(t, pod), "core/configmaps/a/x")
		if got.State != relations.Unknown || !strings.Contains(got.Reason, "ConfigMaps cannot be read: the API") {
			t.Errorf("got %+v", got)
		}
	})
}

// Invariant: I27.
func TestIndividualReadsAreLimited(t *testing.T) {
	const maxReads, uses = 60, 63
	inCluster(t, kinds(), func(c *testCluster) {
		t := c.t
		// Use no index of references, because with the index, the graph needs no reads of single objects.
		c.indexed = nil
		var volumes []string
		for n := range uses {
			volumes = append(volumes, fmt.Sprintf(`{"configMap":{"name":"c%02d"}}`, n))
			c.add(object{fmt.Sprintf("%s/a/c%02d", configMaps, n), "", ""})
		}
		c.add(object{pod, "", `"spec":{"volumes":[` + strings.Join(volumes, ",") + `]}`})
		states := make(map[relations.State]int)
		for _, n := range c.graph(t, pod).Nodes[1:] {
			states[n.State]++
			if n.State == relations.Unknown && n.Reason != "Limit of 60 individual lookups reached." {
				t.Errorf("the reason is %q", n.Reason)
			}
		}
		if states[relations.Present] != maxReads || states[relations.Unknown] != uses-maxReads {
			t.Errorf("the states are %v, want %d there, and the others unknown", states, maxReads)
		}
		if n := len(c.server.Requests("/configmaps/c")); n != maxReads {
			t.Errorf("%d objects were requested, want %d", n, maxReads)
		}
	})
}

// The graph is complete 5 s after the start, even if reads get no response: the wait for lists ends after 3 s, and the
// wait for other reads ends after 5 s.
func TestGraphIsCompleteAfterFiveSeconds(t *testing.T) {
	inCluster(t, kinds(), func(c *testCluster) {
		t := c.t
		// Skip the graph from the index of references: it needs none of the reads that get no response in this test.
		c.indexed = nil
		var volumes []string
		for n := range 10 {
			volumes = append(volumes, fmt.Sprintf(`{"configMap":{"name":"c%d"}}`, n))
			c.server.Hang(fmt.Sprintf("/api/v1/namespaces/a/configmaps/c%d", n))
		}
		c.add(object{pod, "", `"spec":{"volumes":[` + strings.Join(volumes, ",") + `]}`})
		c.server.HangStreamingLists(services)
		start := time.Now()
		g := c.graph(t, pod)
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("it took %s, want 5 s", took)
		}
		for _, n := range g.Nodes[1:] {
			if n.State != relations.Unknown || n.Reason == "" {
				t.Errorf("got %+v, want unknown with a reason", n)
			}
		}
		if s := searched(t, g, services); s.State != "syncing" {
			t.Errorf("the services are %+v, want syncing", s)
		}
	})
}

// The limit of 5 s includes the read of the object itself, and the check of the permission. The error states that the
// API server is the cause.
func TestReadOfTheObjectEndsAfterFiveSeconds(t *testing.T) {
	ref, namespace, name := splitPath(pod)
	for what, test := range map[string]struct {
		path   string // The path at which the API server does not respond.
		viewer watch.Viewer
	}{
		"read":             {"/api/v1/namespaces/" + namespace + "/pods/" + name, watch.Viewer{Program: true}},
		"permission check": {apitest.UserReviewsPath, watch.Viewer{User: &authz.User{Name: "ann"}}},
	} {
		t.Run(what, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(object{pod, "", ""})
				c.server.Hang(test.path)
				start := time.Now()
				_, err := relations.Of(t.Context(), c.cluster.For(test.viewer), ref, namespace, name)
				if took := time.Since(start); took != 5*time.Second {
					t.Errorf("it took %s, want 5 s", took)
				}
				problem, ok := errors.AsType[*status.Problem](err)
				if !ok || problem.Cause != status.Unavailable {
					t.Errorf("got %v, want the cause Unavailable", err)
				}
			})
		})
	}
}

// A slow read of the object leaves less time for the related objects.
func TestSlowReadOfTheObjectCountsTowardTheLimit(t *testing.T) {
	inCluster(t, kinds(), func(c *testCluster) {
		t := c.t
		c.add(object{pod, "", ""})
		ref, namespace, name := splitPath(pod)
		c.server.Handle("/api/v1/namespaces/"+namespace+"/pods/"+name, func(w http.ResponseWriter, _ *http.Request) {
			<-time.After(4 * time.Second)
			_, _ = fmt.Fprintf(w, `{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":%q,"name":%q,"uid":"u"},`+
				`"spec":{"volumes":[{"configMap":{"name":"c"}}]}}`, namespace, name)
		})
		c.server.Hang("/api/v1/namespaces/" + namespace + "/configmaps/c")
		start := time.Now()
		if _, err := relations.Of(t.Context(), c.access, ref, namespace, name); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("it took %s, want 5 s", took)
		}
	})
}

// If a cluster-scoped object refers to a namespaced object but names no namespace, the graph omits the reference.
func TestReferencesWithoutNamespaceAreOmitted(t *testing.T) {
	inCluster(t, kinds(), func(c *testCluster) {
		t := c.t
		const binding = "rbac.authorization.k8s.io/v1/clusterrolebindings/_/x"
		c.add(object{binding, ownedBy(backups + "/a/b"), `"subjects":[{"kind":"ServiceAccount","name":"no-namespace"},` +
			`{"kind":"ServiceAccount","namespace":"a","name":"sa"},{"kind":"User","name":"ann"}]`})
		wantSame(t, nodeStates(c.graph(t, binding)), "rbac.authorization.k8s.io/clusterrolebindings/_/x there",
			"core/serviceaccounts/a/sa missing")
	})
}
