package relations_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/relations"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// workloads returns one object of each kind with a pod template, and a pod. All have the same pod spec.
func workloads(spec string) []object {
	template := `"spec":{"template":{"spec":` + spec + `}}`
	return []object{
		{pods + "/a/pod", "", `"spec":` + spec},
		{deployments + "/a/deploy", "", template},
		{"apps/v1/statefulsets/a/sts", "", template},
		{"apps/v1/daemonsets/a/ds", "", template},
		{"batch/v1/jobs/a/job", "", template},
		{"batch/v1/cronjobs/a/cron", "", `"spec":{"jobTemplate":{` + template + `}}`},
	}
}

func workloadsUse(id string) []string {
	return []string{
		"core/pods/a/pod uses " + id, "apps/deployments/a/deploy uses " + id, "apps/statefulsets/a/sts uses " + id,
		"apps/daemonsets/a/ds uses " + id, "batch/jobs/a/job uses " + id, "batch/cronjobs/a/cron uses " + id,
	}
}

// An object does not name the objects that use it. The program finds those only if it searches all objects of their
// kind.
//
// Invariant: I27.
func TestGraphFindsTheUsersOfAnObject(t *testing.T) {
	roleRef := func(kind string) string {
		return `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"` + kind + `","name":"x"}`
	}
	const (
		rbac, storage, network = "rbac.authorization.k8s.io/", "storage.k8s.io/", "networking.k8s.io/"
		admission              = "admissionregistration.k8s.io/"
		subjects               = `"subjects":[{"kind":"ServiceAccount","namespace":"a","name":"x"}]`
		webhooks               = `"webhooks":[{"clientConfig":{"service":{"namespace":"a","name":"x"}}}]`
	)
	scales := func(apiVersion, kind string) object {
		return object{
			"autoscaling/v2/horizontalpodautoscalers/a/hpa", "",
			fmt.Sprintf(`"spec":{"scaleTargetRef":{"apiVersion":%q,"kind":%q,"name":"x"}}`, apiVersion, kind),
		}
	}
	for _, test := range []struct {
		path  string
		users []object
		want  []string
	}{
		{configMaps + "/a/x", workloads(`{"volumes":[{"configMap":{"name":"x"}}]}`), workloadsUse("core/configmaps/a/x")},
		{
			secrets + "/a/x",
			append(
				workloads(`{"imagePullSecrets":[{"name":"x"}]}`),
				object{network + "v1/ingresses/a/ing", "", `"spec":{"tls":[{"secretName":"x"}]}`},
				object{"core/v1/serviceaccounts/a/sa", "", `"secrets":[{"name":"x"}]`},
			),
			append(
				workloadsUse("core/secrets/a/x"),
				network+"ingresses/a/ing uses core/secrets/a/x", "core/serviceaccounts/a/sa uses core/secrets/a/x",
			),
		},
		{
			"core/v1/serviceaccounts/a/x",
			append(
				workloads(`{"serviceAccountName":"x"}`),
				object{rbac + "v1/rolebindings/a/rb", "", subjects},
				object{rbac + "v1/clusterrolebindings/_/crb", "", subjects},
			),
			append(
				workloadsUse("core/serviceaccounts/a/x"),
				rbac+"rolebindings/a/rb uses core/serviceaccounts/a/x",
				rbac+"clusterrolebindings/_/crb uses core/serviceaccounts/a/x",
			),
		},
		{
			"core/v1/persistentvolumeclaims/a/x",
			[]object{{pods + "/a/p", "", `"spec":{"volumes":[{"persistentVolumeClaim":{"claimName":"x"}}]}`}},
			[]string{"core/pods/a/p uses core/persistentvolumeclaims/a/x"},
		},
		{
			"core/v1/persistentvolumes/_/x",
			[]object{
				{"core/v1/persistentvolumeclaims/a/claim", "", `"spec":{"volumeName":"x"}`},
				{storage + "v1/volumeattachments/_/va", "", `"spec":{"source":{"persistentVolumeName":"x"}}`},
			},
			[]string{
				"core/persistentvolumeclaims/a/claim uses core/persistentvolumes/_/x",
				storage + "volumeattachments/_/va uses core/persistentvolumes/_/x",
			},
		},
		{
			storage + "v1/storageclasses/_/x",
			[]object{
				{"core/v1/persistentvolumes/_/pv", "", `"spec":{"storageClassName":"x"}`},
				{"core/v1/persistentvolumeclaims/a/claim", "", `"spec":{"storageClassName":"x"}`},
			},
			[]string{
				"core/persistentvolumes/_/pv uses " + storage + "storageclasses/_/x",
				"core/persistentvolumeclaims/a/claim uses " + storage + "storageclasses/_/x",
			},
		},
		{
			nodes + "/_/x",
			[]object{
				{pods + "/a/p", "", `"spec":{"nodeName":"x"}`},
				{pods + "/b/p", "", `"spec":{"nodeName":"x"}`},
				{storage + "v1/csinodes/_/x", ownedBy(nodes + "/_/x"), ""},
				{storage + "v1/volumeattachments/_/va", "", `"spec":{"nodeName":"x"}`},
			},
			[]string{
				"core/pods/a/p uses core/nodes/_/x", "core/pods/b/p uses core/nodes/_/x",
				"core/nodes/_/x owns " + storage + "csinodes/_/x", storage + "volumeattachments/_/va uses core/nodes/_/x",
			},
		},
		{
			rbac + "v1/roles/a/x",
			[]object{
				{rbac + "v1/rolebindings/a/rb", "", roleRef("Role")},
				{rbac + "v1/rolebindings/b/rb", "", roleRef("Role")},
				{rbac + "v1/rolebindings/a/other", "", roleRef("ClusterRole")},
			},
			[]string{rbac + "rolebindings/a/rb uses " + rbac + "roles/a/x"},
		},
		{
			rbac + "v1/clusterroles/_/x",
			[]object{
				{rbac + "v1/rolebindings/a/rb", "", roleRef("ClusterRole")},
				{rbac + "v1/clusterrolebindings/_/crb", "", roleRef("ClusterRole")},
			},
			[]string{
				rbac + "rolebindings/a/rb uses " + rbac + "clusterroles/_/x",
				rbac + "clusterrolebindings/_/crb uses " + rbac + "clusterroles/_/x",
			},
		},
		{
			"scheduling.k8s.io/v1/priorityclasses/_/x",
			[]object{{pods + "/a/p", "", `"spec":{"priorityClassName":"x"}`}},
			[]string{"core/pods/a/p uses scheduling.k8s.io/priorityclasses/_/x"},
		},
		{
			"node.k8s.io/v1/runtimeclasses/_/x",
			[]object{{pods + "/a/p", "", `"spec":{"runtimeClassName":"x"}`}},
			[]string{"core/pods/a/p uses node.k8s.io/runtimeclasses/_/x"},
		},
		{
			network + "v1/ingressclasses/_/x",
			[]object{{network + "v1/ingresses/a/i", "", `"spec":{"ingressClassName":"x"}`}},
			[]string{network + "ingresses/a/i uses " + network + "ingressclasses/_/x"},
		},
		{
			services + "/a/x",
			[]object{
				{network + "v1/ingresses/a/i", "", `"spec":{"defaultBackend":{"service":{"name":"x"}}}`},
				{slicesRef + "/a/s", `"labels":{"kubernetes.io/service-name":"x"}`, ""},
				{"apps/v1/statefulsets/a/sts", "", `"spec":{"serviceName":"x"}`},
				{"apiregistration.k8s.io/v1/apiservices/_/v1.x", "", `"spec":{"service":{"namespace":"a","name":"x"}}`},
				{"apiregistration.k8s.io/v1/apiservices/_/v1.y", "", `"spec":{"service":{"namespace":"b","name":"x"}}`},
				{admission + "v1/validatingwebhookconfigurations/_/v", "", webhooks},
				{admission + "v1/mutatingwebhookconfigurations/_/m", "", webhooks},
			},
			[]string{
				network + "ingresses/a/i uses core/services/a/x", "discovery.k8s.io/endpointslices/a/s uses core/services/a/x",
				"apps/statefulsets/a/sts uses core/services/a/x",
				"apiregistration.k8s.io/apiservices/_/v1.x uses core/services/a/x",
				admission + "validatingwebhookconfigurations/_/v uses core/services/a/x",
				admission + "mutatingwebhookconfigurations/_/m uses core/services/a/x",
			},
		},
		{
			deployments + "/a/x",
			[]object{scales("apps/v1", "Deployment")},
			[]string{"autoscaling/horizontalpodautoscalers/a/hpa uses apps/deployments/a/x"},
		},
		{
			replicaSets + "/a/x",
			[]object{scales("apps/v1", "ReplicaSet")},
			[]string{"autoscaling/horizontalpodautoscalers/a/hpa uses apps/replicasets/a/x"},
		},
		{
			"apps/v1/statefulsets/a/x",
			[]object{scales("apps/v1", "StatefulSet")},
			[]string{"autoscaling/horizontalpodautoscalers/a/hpa uses apps/statefulsets/a/x"},
		},
		{
			"core/v1/replicationcontrollers/a/x",
			[]object{scales("v1", "ReplicationController")},
			[]string{"autoscaling/horizontalpodautoscalers/a/hpa uses core/replicationcontrollers/a/x"},
		},
		{
			backups + "/a/x",
			[]object{{
				"example.com/v1/restores/a/r", "",
				`"spec":{"backupRef":{"apiVersion":"example.com/v1","kind":"Backup","name":"x"}}`,
			}},
			[]string{"example.com/restores/a/r uses example.com/backups/a/x"},
		},
		{
			"example.com/v1/regions/_/x",
			[]object{{
				"example.com/v1/vaults/_/v", "", `"spec":{"regionRef":{"group":"example.com","kind":"Region","name":"x"}}`,
			}},
			[]string{"example.com/vaults/_/v uses example.com/regions/_/x"},
		},
	} {
		t.Run(test.path, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(append(test.users, object{path: test.path})...)
				wantSame(t, edges(c.graph(t, test.path)), test.want...)
			})
		})
	}
}

// Invariant: I27.
func TestGraphFindsOwnedObjects(t *testing.T) {
	for _, test := range []struct {
		path  string
		owned []string
	}{
		{deployments + "/a/x", []string{replicaSets + "/a/o"}},
		{replicaSets + "/a/x", []string{pods + "/a/o"}},
		{"core/v1/replicationcontrollers/a/x", []string{pods + "/a/o"}},
		{
			"apps/v1/statefulsets/a/x",
			[]string{pods + "/a/o", "apps/v1/controllerrevisions/a/o", "core/v1/persistentvolumeclaims/a/o"},
		},
		{"apps/v1/daemonsets/a/x", []string{pods + "/a/o", "apps/v1/controllerrevisions/a/o"}},
		{"batch/v1/cronjobs/a/x", []string{"batch/v1/jobs/a/o"}},
		{"batch/v1/jobs/a/x", []string{pods + "/a/o"}},
		{services + "/a/x", []string{slicesRef + "/a/o"}},
		{
			backups + "/a/x",
			[]string{
				deployments + "/a/o", replicaSets + "/a/o", "apps/v1/statefulsets/a/o", "apps/v1/daemonsets/a/o",
				"batch/v1/jobs/a/o", pods + "/a/o", services + "/a/o", configMaps + "/a/o", secrets + "/a/o",
				"core/v1/persistentvolumeclaims/a/o", backups + "/a/o", "example.com/v1/restores/a/o",
			},
		},
		{"example.com/v1/regions/_/x", []string{"example.com/v1/vaults/_/o"}},
	} {
		t.Run(test.path, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(object{path: test.path})
				var want []string
				for _, path := range test.owned {
					c.add(object{path, ownedBy(test.path), ""})
					want = append(want, idOf(test.path)+" owns "+idOf(path))
				}
				wantSame(t, edges(c.graph(t, test.path)), want...)
			})
		})
	}
}

// idOf removes the version from a path.
func idOf(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(append(parts[:1], parts[2:]...), "/")
}

// The graph of a custom object searches only kinds that the object can own, and kinds that can refer to the object.
// It searches each kind in one version.
func TestKindsSearchedForACustomResource(t *testing.T) {
	kinds := []apitest.Kind{
		{Ref: backups, Kind: "Backup"},
		{Ref: "example.com/v1/vaults", Kind: "Vault", Cluster: true},
		{Ref: "example.com/v1beta1/backups", Kind: "Backup"},
		{Ref: "example.com/v1/reviews", Kind: "Review", Verbs: []string{"create"}},
		{Ref: "other.com/v1/backups", Kind: "Backup"},
		{Ref: pods, Kind: "Pod"},
		{Ref: namespaces, Kind: "Namespace", Cluster: true},
	}
	for _, test := range []struct {
		path string
		want []string
	}{
		{backups + "/a/x", []string{pods + " live", backups + " live"}},
		{"example.com/v1/vaults/_/x", []string{"example.com/v1/vaults live"}},
	} {
		t.Run(test.path, func(t *testing.T) {
			inCluster(t, kinds, func(c *testCluster) {
				t := c.t
				c.add(object{path: test.path})
				var got []string
				for _, s := range c.graph(t, test.path).Searched {
					if s.State != status.Absent { // Skip built-in kinds that the cluster does not serve.
						got = append(got, s.Ref+" "+string(s.State))
					}
				}
				wantSame(t, got, test.want...)
			})
		})
	}
}

// Invariant: I27.
func TestSearchedKindsAreLimited(t *testing.T) {
	const more = 10 // kinds of the custom resource's group, in addition to 10 built-in ones
	all := kinds()
	for n := range more {
		all = append(all, apitest.Kind{Ref: fmt.Sprintf("many.com/v1/k%ds", n), Kind: fmt.Sprint("K", n)})
	}
	inCluster(t, all, func(c *testCluster) {
		t := c.t
		// Skip the check of the graph from the index of references, because no kinds are searched for that graph.
		c.indexed = nil
		const self = "many.com/v1/k0s/a/x"
		c.add(object{path: self}, object{"many.com/v1/k5s/a/o", ownedBy(self), ""},
			object{"many.com/v1/k6s/a/o", ownedBy(self), ""})
		g := c.graph(t, self)
		wantSame(t, edges(g), "many.com/k0s/a/x owns many.com/k5s/a/o")
		for n, s := range g.Searched {
			want := relations.Searched{Ref: s.Ref, Status: status.Status{State: status.Live, Since: s.Since}}
			if n >= 16 {
				want.State, want.Reason = status.Failed, "Limit of 16 resource types reached (20 candidates)."
			}
			if s.Ref == "" || !s.Same(want.Status) {
				t.Errorf("kind %d is %+v, want %+v", n, s, want)
			}
		}
		if len(g.Searched) != 20 {
			t.Errorf("%d kinds are reported, want 20", len(g.Searched))
		}
		if requests := c.server.Requests("/k6s"); len(requests) > 0 {
			t.Errorf("a kind beyond the limit is requested: %q", requests)
		}
	})
}
