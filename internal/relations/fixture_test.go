package relations_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/glasshouse-project/glasshouse/internal/relations"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

func TestMain(m *testing.M) {
	// Remove client-go's default error handlers: in a synctest bubble, one of them would sleep for years, because it
	// compares the fake time with the real time of the last error.
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(m)
}

const (
	pods, configMaps, secrets   = "core/v1/pods", "core/v1/configmaps", "core/v1/secrets"
	services, nodes, namespaces = "core/v1/services", "core/v1/nodes", "core/v1/namespaces"
	deployments, replicaSets    = "apps/v1/deployments", "apps/v1/replicasets"
	slicesRef                   = "discovery.k8s.io/v1/endpointslices"
	backups                     = "example.com/v1/backups"
)

// kinds returns the resources that the fake API server serves: built-in ones that a graph searches, and custom ones.
func kinds() (all []apitest.Kind) {
	for line := range strings.SplitSeq(strings.TrimSpace(`
core/v1/pods Pod
core/v1/services Service
core/v1/configmaps ConfigMap
core/v1/secrets Secret
core/v1/serviceaccounts ServiceAccount
core/v1/persistentvolumeclaims PersistentVolumeClaim
core/v1/replicationcontrollers ReplicationController
core/v1/nodes Node cluster
core/v1/namespaces Namespace cluster
core/v1/persistentvolumes PersistentVolume cluster
apps/v1/deployments Deployment
apps/v1/replicasets ReplicaSet
apps/v1/statefulsets StatefulSet
apps/v1/daemonsets DaemonSet
apps/v1/controllerrevisions ControllerRevision
batch/v1/jobs Job
batch/v1/cronjobs CronJob
autoscaling/v2/horizontalpodautoscalers HorizontalPodAutoscaler
policy/v1/poddisruptionbudgets PodDisruptionBudget
networking.k8s.io/v1/networkpolicies NetworkPolicy
networking.k8s.io/v1/ingresses Ingress
networking.k8s.io/v1/ingressclasses IngressClass cluster
discovery.k8s.io/v1/endpointslices EndpointSlice
rbac.authorization.k8s.io/v1/roles Role
rbac.authorization.k8s.io/v1/rolebindings RoleBinding
rbac.authorization.k8s.io/v1/clusterroles ClusterRole cluster
rbac.authorization.k8s.io/v1/clusterrolebindings ClusterRoleBinding cluster
storage.k8s.io/v1/storageclasses StorageClass cluster
storage.k8s.io/v1/csinodes CSINode cluster
storage.k8s.io/v1/volumeattachments VolumeAttachment cluster
scheduling.k8s.io/v1/priorityclasses PriorityClass cluster
node.k8s.io/v1/runtimeclasses RuntimeClass cluster
apiregistration.k8s.io/v1/apiservices APIService cluster
admissionregistration.k8s.io/v1/validatingwebhookconfigurations ValidatingWebhookConfiguration cluster
admissionregistration.k8s.io/v1/mutatingwebhookconfigurations MutatingWebhookConfiguration cluster
example.com/v1/backups Backup
example.com/v1/restores Restore
example.com/v1/vaults Vault cluster
example.com/v1/regions Region cluster
`), "\n") {
		fields := strings.Fields(line)
		all = append(all, apitest.Kind{
			Ref: fields[0], Kind: fields[1], Cluster: len(fields) > 2, Columns: `[{"name":"Name","type":"string"}]`,
		})
	}
	return all
}

// object is an object in a test cluster. The path is also its UID: "core/v1/pods/a/p", or "core/v1/nodes/_/n" without
// a namespace.
type object struct{ path, metadata, rest string }

func splitPath(path string) (ref, namespace, name string) {
	parts := strings.Split(path, "/")
	return strings.Join(parts[:3], "/"), strings.TrimPrefix(parts[3], "_"), parts[4]
}

func ownerReference(path, uid string) string {
	ref, _, name := splitPath(path)
	group, version, _ := strings.Cut(ref[:strings.LastIndex(ref, "/")], "/")
	kind := "Gone" // A kind that the cluster does not serve.
	if all := kinds(); slices.ContainsFunc(all, func(k apitest.Kind) bool { return k.Ref == ref }) {
		kind = all[slices.IndexFunc(all, func(k apitest.Kind) bool { return k.Ref == ref })].Kind
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}`,
		strings.TrimPrefix(group+"/"+version, "core/"), kind, name, uid)
}

func ownedBy(paths ...string) string {
	var references []string
	for _, path := range paths {
		references = append(references, ownerReference(path, path))
	}
	return `"ownerReferences":[` + strings.Join(references, ",") + `]`
}

func labelled(app string) string { return fmt.Sprintf(`"labels":{"app":%q}`, app) }

const selectsWeb = `"spec":{"selector":{"matchLabels":{"app":"web"}}}`

type testCluster struct {
	t       *testing.T
	server  *apitest.Server
	cluster *watch.Cluster
	access  *watch.Access
	// indexed provides relations from the index of references. If it is set, the method graph also builds the graph from
	// this index, and checks it.
	indexed *watch.Access
	index   *watch.Cluster
	// isLimited means that the viewer has limited permissions.
	isLimited bool
	release   func() // Stops the index; nil before its start.
}

// inCluster runs a test in a bubble with fake time. The test has the permissions of the program itself.
func inCluster(t *testing.T, kinds []apitest.Kind, test func(c *testCluster)) {
	t.Helper()
	inServer(t, kinds, func(*apitest.Server) {}, test)
}

// inServer is like inCluster, but setup changes the API server before the program discovers its resources.
func inServer(
	t *testing.T, kinds []apitest.Kind, setup func(*apitest.Server), test func(c *testCluster),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds...)
		if slices.ContainsFunc(kinds, func(k apitest.Kind) bool { return k.Ref == namespaces }) {
			// Create the namespaces, because a list in a missing namespace has the state "absent".
			server.Set(namespaces, apitest.Item{Name: "a"}, apitest.Item{Name: "b"})
		}
		setup(server)
		cluster := startCluster(t, server)
		c := &testCluster{
			t: t, server: server, cluster: cluster,
			index: startClusterWith(t, server, watch.Options{InheritVerdicts: true}),
		}
		c.as(watch.Viewer{Program: true})
		defer c.stopIndex()
		test(c)
	})
}

func startCluster(t *testing.T, server *apitest.Server) *watch.Cluster {
	t.Helper()
	return startClusterWith(t, server, watch.Options{})
}

func startClusterWith(t *testing.T, server *apitest.Server, options watch.Options) *watch.Cluster {
	t.Helper()
	options.Linger, options.Log = time.Minute, slog.New(slog.DiscardHandler)
	cluster, err := watch.New(server.Config, options)
	if err != nil {
		t.Fatal(err)
	}
	apitest.Run(t, cluster.Run)
	synctest.Wait()
	return cluster
}

func (c *testCluster) add(objects ...object) {
	for _, o := range objects {
		ref, namespace, name := splitPath(o.path)
		c.server.Set(ref, apitest.Item{
			Namespace: namespace, Name: name, UID: o.path, Metadata: o.metadata, Rest: o.rest,
		})
	}
	synctest.Wait()
}

// graph returns the graph of an object. It also verifies that IDs are unique and that edges connect all nodes.
func (c *testCluster) graph(t *testing.T, path string) *relations.Graph {
	t.Helper()
	ref, namespace, name := splitPath(path)
	g, err := relations.Of(t.Context(), c.access, ref, namespace, name)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	ids, connected := make(map[string]bool), make(map[string]bool)
	for _, n := range g.Nodes {
		if ids[n.ID] {
			t.Errorf("%s: the ID %s is not unique", path, n.ID)
		}
		ids[n.ID] = true
	}
	for _, e := range g.Edges {
		if !ids[e.From] || !ids[e.To] {
			t.Errorf("%s: the edge %v has no node", path, e)
		}
		connected[e.From], connected[e.To] = true, true
	}
	for _, n := range g.Nodes[1:] {
		if !connected[n.ID] {
			t.Errorf("%s: the node %s has no edge", path, n.ID)
		}
	}
	if c.indexed != nil {
		c.wantIndexed(t, path, g)
	}
	return g
}

// as sets the viewer with whose permissions the test reads the cluster.
func (c *testCluster) as(viewer watch.Viewer) {
	c.access, c.indexed = c.cluster.For(viewer), c.index.For(viewer)
	c.isLimited = viewer.User != nil || viewer.Scope != nil
}

func (c *testCluster) stopIndex() {
	if c.release != nil {
		c.release()
	}
}

// wantIndexed verifies that the graph from the index of references has all nodes and edges of want. If the viewer has
// limited permissions, both graphs must be equal.
func (c *testCluster) wantIndexed(t *testing.T, path string, want *relations.Graph) {
	t.Helper()
	if c.release == nil {
		c.release = watch.IndexOf(c.indexed).Keep()
	}
	<-time.After(3 * time.Second) // Wait, in fake time, until the index contains all objects.
	ref, namespace, name := splitPath(path)
	g, err := relations.Of(t.Context(), c.indexed, ref, namespace, name)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, all := range []func(*relations.Graph) []string{nodeStates, edges} {
		got := all(g)
		for _, text := range all(want) {
			if !slices.Contains(got, text) {
				t.Errorf("%s: the graph from the index has no %s, only\n%s", path, text, strings.Join(got, "\n"))
			}
		}
		if c.isLimited {
			wantSame(t, got, all(want)...)
		}
	}
}

// nodeStates returns "id state" for each node, or "id state count" for a node that represents several objects.
func nodeStates(g *relations.Graph) (all []string) {
	for _, n := range g.Nodes {
		text := n.ID + " " + string(n.State)
		if n.Count > 0 {
			text += fmt.Sprint(" ", n.Count)
		}
		all = append(all, text)
	}
	return all
}

func edges(g *relations.Graph) (all []string) {
	for _, e := range g.Edges {
		all = append(all, e.From+" "+e.Type+" "+e.To)
	}
	return all
}

func node(t *testing.T, g *relations.Graph, id string) relations.Node {
	t.Helper()
	for _, n := range g.Nodes {
		if n.ID == id {
			return n
		}
	}
	t.Fatalf("no node %s in %q", id, nodeStates(g))
	return relations.Node{}
}

func searched(t *testing.T, g *relations.Graph, ref string) relations.Searched {
	t.Helper()
	for _, s := range g.Searched {
		if s.Ref == ref {
			return s
		}
	}
	t.Fatalf("%s was not considered: %+v", ref, g.Searched)
	return relations.Searched{}
}

// wantSame compares got with want, regardless of the order.
func wantSame(t *testing.T, got []string, want ...string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
