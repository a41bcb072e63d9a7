package relations_test

import (
	"fmt"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/relations"
)

// Invariant: I27.
func TestGraphFollowsOwners(t *testing.T) {
	const (
		deployment, replicaSet = deployments + "/a/web", replicaSets + "/a/web-1"
		cron, job              = "batch/v1/cronjobs/a/c", "batch/v1/jobs/a/j"
		claims, sets           = "core/v1/persistentvolumeclaims", "apps/v1/statefulsets"
	)
	for _, test := range []struct {
		name    string
		objects []object // The first one is the object whose graph is checked.
		want    []string
	}{
		{
			"up to the root",
			[]object{{pod, ownedBy(replicaSet), ""}, {replicaSet, ownedBy(deployment), ""}, {deployment, "", ""}},
			[]string{"apps/deployments/a/web owns apps/replicasets/a/web-1", "apps/replicasets/a/web-1 owns core/pods/a/p"},
		},
		{
			"down to all descendants",
			[]object{{cron, "", ""}, {job, ownedBy(cron), ""}, {pod, ownedBy(job), ""}},
			[]string{"batch/cronjobs/a/c owns batch/jobs/a/j", "batch/jobs/a/j owns core/pods/a/p"},
		},
		{
			"several of one object",
			[]object{{configMaps + "/a/x", ownedBy(deployment, cron), ""}, {deployment, "", ""}, {cron, "", ""}},
			[]string{"apps/deployments/a/web owns core/configmaps/a/x", "batch/cronjobs/a/c owns core/configmaps/a/x"},
		},
		{
			"cluster-scoped",
			[]object{{pod, ownedBy(nodes + "/_/n"), ""}, {nodes + "/_/n", "", ""}},
			[]string{"core/nodes/_/n owns core/pods/a/p"},
		},
		{
			"in a cycle",
			[]object{{backups + "/a/x", ownedBy(backups + "/a/y"), ""}, {backups + "/a/y", ownedBy(backups + "/a/x"), ""}},
			[]string{
				"example.com/backups/a/y owns example.com/backups/a/x", "example.com/backups/a/x owns example.com/backups/a/y",
			},
		},
		{
			"of the pods that use a claim, and their nodes",
			[]object{
				{claims + "/a/data", "", ""},
				{
					pod, ownedBy(sets + "/a/db"),
					`"spec":{"nodeName":"n","volumes":[{"persistentVolumeClaim":{"claimName":"data"}}]}`,
				},
				{sets + "/a/db", "", ""},
				{nodes + "/_/n", "", ""},
			},
			[]string{
				"core/pods/a/p uses core/persistentvolumeclaims/a/data", "apps/statefulsets/a/db owns core/pods/a/p",
				"core/pods/a/p uses core/nodes/_/n",
			},
		},
		{"not to the object itself", []object{{backups + "/a/x", ownedBy(backups + "/a/x"), ""}}, nil},
		{
			"but not to siblings",
			[]object{
				{backups + "/a/x", ownedBy(deployment), ""}, {backups + "/a/y", ownedBy(deployment), ""}, {deployment, "", ""},
			},
			[]string{"apps/deployments/a/web owns example.com/backups/a/x"},
		},
		{
			"of an earlier object with the same name, but not of this one",
			[]object{
				{replicaSet, "", ""},
				{pod, `"ownerReferences":[` + ownerReference(replicaSet, "deleted") + `]`, ""},
			},
			nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(test.objects...)
				wantSame(t, edges(c.graph(t, test.objects[0].path)), test.want...)
			})
		})
	}
}

// Invariant: I27.
func TestChainsOfOwnersAreLimited(t *testing.T) {
	t.Run("length", func(t *testing.T) {
		inCluster(t, kinds(), func(c *testCluster) {
			t := c.t
			const name = "core/v1/serviceaccounts/a/" // This kind is not searched for ServiceAccounts.
			for n := range 15 {
				c.add(object{fmt.Sprint(name, n), ownedBy(fmt.Sprint(name, n+1)), ""})
			}
			if g := c.graph(t, name+"0"); len(g.Nodes) != 11 || len(g.Edges) != 10 {
				t.Errorf("got %q, want the object and 10 owners", nodeStates(g))
			}
		})
	})
	t.Run("number, of selected pods", func(t *testing.T) {
		inCluster(t, kinds(), func(c *testCluster) {
			t := c.t
			c.add(object{services + "/a/x", "", `"spec":{"selector":{"app":"x"}}`})
			for n := range 12 {
				replicaSet := fmt.Sprintf("%s/a/r%02d", replicaSets, n)
				c.add(object{replicaSet, "", ""},
					object{fmt.Sprintf("%s/a/p%02d", pods, n), ownedBy(replicaSet) + "," + labelled("x"), ""})
			}
			owners := 0
			for _, n := range c.graph(t, services+"/a/x").Nodes {
				if n.Kind == "ReplicaSet" {
					owners++
				}
			}
			if owners != 10 {
				t.Errorf("the graph has the owners of %d pods, want 10", owners)
			}
		})
	})
}

// Invariant: I27.
func TestGraphFollowsSelectors(t *testing.T) {
	const network, budget = "networking.k8s.io/v1/networkpolicies/a/n", "policy/v1/poddisruptionbudgets/a/b"
	web, other := object{pods + "/a/web", labelled("web"), ""}, object{pods + "/a/other", labelled("other"), ""}
	elsewhere := object{pods + "/b/web", labelled("web"), ""}
	serviceOf := func(name, app string) object {
		return object{services + "/" + name, "", fmt.Sprintf(`"spec":{"selector":{"app":%q}}`, app)}
	}
	for _, test := range []struct {
		name    string
		objects []object // The first one is the object whose graph is checked.
		want    []string
	}{
		{
			"from a service to its pods",
			[]object{serviceOf("a/s", "web"), web, other, elsewhere},
			[]string{"core/services/a/s selects core/pods/a/web"},
		},
		{
			"from a budget to its pods",
			[]object{{budget, "", selectsWeb}, web, other, elsewhere},
			[]string{"policy/poddisruptionbudgets/a/b selects core/pods/a/web"},
		},
		{
			"from a policy to all pods of its namespace",
			[]object{{network, "", `"spec":{"podSelector":{}}`}, web, other, elsewhere},
			[]string{
				"networking.k8s.io/networkpolicies/a/n selects core/pods/a/web",
				"networking.k8s.io/networkpolicies/a/n selects core/pods/a/other",
			},
		},
		{
			"from a Job to its pods",
			[]object{{"batch/v1/jobs/a/j", "", selectsWeb}, web, other},
			[]string{"batch/jobs/a/j selects core/pods/a/web"},
		},
		{
			"from a pod to all that select it",
			[]object{
				web, serviceOf("a/s", "web"), serviceOf("a/other", "other"), serviceOf("b/s", "web"),
				{budget, "", selectsWeb},
				{network, "", `"spec":{"podSelector":{}}`},
			},
			[]string{
				"core/services/a/s selects core/pods/a/web", "policy/poddisruptionbudgets/a/b selects core/pods/a/web",
				"networking.k8s.io/networkpolicies/a/n selects core/pods/a/web",
			},
		},
		{
			"from owned pods to all that select them",
			[]object{
				{replicaSets + "/a/r", "", selectsWeb},
				{pods + "/a/owned", ownedBy(replicaSets+"/a/r") + "," + labelled("web"), ""},
				serviceOf("a/s", "web"), serviceOf("a/other", "other"),
			},
			// The ReplicaSet also selects the pod, but one edge is enough.
			[]string{"apps/replicasets/a/r owns core/pods/a/owned", "core/services/a/s selects core/pods/a/owned"},
		},
		{
			"from a workload to pods that another object owns",
			[]object{
				{replicaSets + "/a/r", "", selectsWeb},
				{pods + "/a/adopted", ownedBy(backups+"/a/x") + "," + labelled("web"), ""},
				{backups + "/a/x", "", ""},
			},
			[]string{"apps/replicasets/a/r selects core/pods/a/adopted", "example.com/backups/a/x owns core/pods/a/adopted"},
		},
		{
			"to pods, then to the root of their owners",
			[]object{
				serviceOf("a/s", "web"),
				{pods + "/a/owned", ownedBy(replicaSets+"/a/r") + "," + labelled("web"), ""},
				{replicaSets + "/a/r", ownedBy(deployments + "/a/d"), ""},
				{deployments + "/a/d", "", ""},
			},
			[]string{
				"core/services/a/s selects core/pods/a/owned", "apps/replicasets/a/r owns core/pods/a/owned",
				"apps/deployments/a/d owns apps/replicasets/a/r",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(test.objects...)
				wantSame(t, edges(c.graph(t, test.objects[0].path)), test.want...)
			})
		})
	}
}

func TestUsersMustReferToTheSameObject(t *testing.T) {
	const restore = "example.com/v1/restores/"
	refersTo := func(group, kind, namespace, name string) string {
		return fmt.Sprintf(`"spec":{"backupRef":{"group":%q,"kind":%q,"namespace":%q,"name":%q}}`,
			group, kind, namespace, name)
	}
	for _, test := range []struct {
		name, rest string
		want       bool
	}{
		{"in the namespace of the user", refersTo("example.com", "Backup", "", "x"), true},
		{"in a namespace that the user names", refersTo("example.com", "Backup", "a", "x"), true},
		{"in another namespace", refersTo("example.com", "Backup", "b", "x"), false},
		{"of another kind", refersTo("example.com", "Region", "", "x"), false},
		{"of another group", refersTo("other.com", "Backup", "", "x"), false},
		{"of the same kind", refersTo("example.com", "Backup", "", "y") + `,"note":"x"`, false},
		{"only in other text", `"spec":{"note":"x"}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(object{path: backups + "/a/x"}, object{restore + "a/r", "", test.rest})
				var want []string
				if test.want {
					want = []string{"example.com/restores/a/r uses example.com/backups/a/x"}
				}
				wantSame(t, edges(c.graph(t, backups+"/a/x")), want...)
			})
		})
	}
}

func TestEdgesContainThePathOfTheReference(t *testing.T) {
	inCluster(t, kinds(), func(c *testCluster) {
		t := c.t
		c.add(
			object{pod, ownedBy(replicaSets+"/a/r") + "," + labelled("web"), `"spec":{"containers":[{},{"envFrom":[
				{"configMapRef":{"name":"env"}}]}]}`},
			object{replicaSets + "/a/r", "", ""},
			object{services + "/a/s", "", `"spec":{"selector":{"app":"web"}}`},
			object{"networking.k8s.io/v1/networkpolicies/a/n", "", `"spec":{"podSelector":{}}`},
			object{slicesRef + "/a/e", "", `"endpoints":[{"targetRef":{"kind":"Pod","name":"p"}}]`},
		)
		wantSame(t, vias(c.graph(t, pod)),
			"apps/replicasets/a/r owns: metadata.ownerReferences",
			"core/pods/a/p uses: spec.containers.envFrom.configMapRef", "core/services/a/s selects: spec.selector",
			"networking.k8s.io/networkpolicies/a/n selects: spec.podSelector",
			"discovery.k8s.io/endpointslices/a/e uses: endpoints.targetRef")
		wantSame(t, vias(c.graph(t, services+"/a/s")),
			"core/services/a/s selects: spec.selector", "apps/replicasets/a/r owns: metadata.ownerReferences")
		c.add(object{path: "apps/v1/daemonsets/a/d"}, object{pods + "/a/q", ownedBy("apps/v1/daemonsets/a/d"), ""})
		wantSame(t, vias(c.graph(t, "apps/v1/daemonsets/a/d")),
			"apps/daemonsets/a/d owns: metadata.ownerReferences",
			"networking.k8s.io/networkpolicies/a/n selects: spec.podSelector")
	})
}

func vias(g *relations.Graph) (all []string) {
	for _, e := range g.Edges {
		all = append(all, e.From+" "+e.Type+": "+e.Via)
	}
	return all
}

// A pod that is selected, owned, and used has one node with all of its edges.
func TestObjectWithSeveralRelationsHasOneNode(t *testing.T) {
	inCluster(t, kinds(), func(c *testCluster) {
		t := c.t
		const self = backups + "/a/x"
		uses := `"spec":{"podRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}`
		c.add(object{self, "", uses}, object{pod, ownedBy(self) + "," + labelled("web"), ""},
			object{services + "/a/s", ownedBy(self), `"spec":{"selector":{"app":"web"}}`})
		g := c.graph(t, self)
		wantSame(t, nodeStates(g), "example.com/backups/a/x there", "core/pods/a/p there", "core/services/a/s there")
		wantSame(t, edges(g), "example.com/backups/a/x uses core/pods/a/p", "example.com/backups/a/x owns core/pods/a/p",
			"example.com/backups/a/x owns core/services/a/s", "core/services/a/s selects core/pods/a/p")
		if first := g.Nodes[0]; first.ID != "example.com/backups/a/x" || first.Ref != backups || first.Kind != "Backup" ||
			first.Namespace != "a" || first.Name != "x" || first.UID != self {
			t.Errorf("the first node is %+v, want the object itself", first)
		}
	})
}
