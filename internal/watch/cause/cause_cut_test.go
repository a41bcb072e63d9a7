package cause_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// cut is a cluster in which a list reaches its limit, so that there are possibly further objects.
type cut struct {
	*cluster

	of   string     // The cut list: "all", "users", "owned" or "selected".
	kind graph.Kind // If the list is "all": the kind of the objects. If it is "users": the kind of the used object.
}

func (c cut) All(kind graph.Kind, namespace string, limit int) []neighbor.Neighbor {
	all := c.cluster.All(kind, namespace, limit)
	for c.of == "all" && c.kind == kind && len(all) < limit {
		all = append(all, c.Find(c.order[0])) // If it is of another kind, the rules decode no members of it.
	}
	return all
}

func (c cut) fill(isCut bool, ids []graph.ID, limit int) []graph.ID {
	for isCut && len(ids) < limit {
		ids = append(ids, graph.NewID(graph.Kind{Kind: "Event"}, "shop", "deleted"))
	}
	return ids
}

func (c cut) Users(id graph.ID, limit int) []graph.ID {
	return c.fill(c.of == "users" && c.kind == id.Kind, c.cluster.Users(id, limit), limit)
}

func (c cut) Owned(uid string, limit int) []graph.ID {
	return c.fill(c.of == "owned", c.cluster.Owned(uid, limit), limit)
}

func (c cut) Selected(namespace string, s *objectrefs.Selector, limit int) []graph.ID {
	return c.fill(c.of == "selected", c.cluster.Selected(namespace, s, limit), limit)
}

// If there are possibly more objects than a rule reads, the rule does not conclude that none of them meets a condition,
// or that only one does.
func TestNoConclusionFromCutList(t *testing.T) {
	pod, service := graph.Kind{Kind: "Pod"}, graph.Kind{Kind: "Service"}
	claim := graph.Kind{Kind: "PersistentVolumeClaim"}
	class := graph.Kind{Group: "storage.k8s.io", Kind: "StorageClass"}
	set := graph.Kind{Group: "apps", Kind: "ReplicaSet"}
	scaler := graph.Kind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}
	apis := graph.Kind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	crd := graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	grant := graph.Kind{Group: "gateway.networking.k8s.io", Kind: "ReferenceGrant"}
	route := graph.Kind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}
	webhook := graph.Kind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}
	pool, longhornNode := graph.Kind{Group: "openebs.io", Kind: "DiskPool"}, graph.Kind{Group: "longhorn.io", Kind: "Node"}
	cronJob := graph.Kind{Group: "batch", Kind: "CronJob"}
	addressPool := graph.Kind{Group: "metallb.io", Kind: "IPAddressPool"}
	serviceRange := graph.Kind{Group: "networking.k8s.io", Kind: "ServiceCIDR"}
	for _, test := range []struct {
		file string
		id   graph.ID
		of   string
		kind graph.Kind
	}{
		{"service-crashing", graph.NewID(service, "shop", "web"), "selected", pod},
		{"service-unknown-port", graph.NewID(service, "shop", "web"), "selected", pod},
		{"service-manual-endpoints", graph.NewID(service, "shop", "numeric"), "users", service},
		{"service-of-failed-owner", graph.NewID(service, "shop", "stock"), "owned", graph.Kind{}},
		{"cron-job-repeated", graph.NewID(cronJob, "shop", "report"), "owned", graph.Kind{}},
		{"claim-volume-too-small", graph.NewID(claim, "shop", "data"), "all", graph.Kind{Kind: "PersistentVolume"}},
		{"claim-not-bound", graph.NewID(claim, "shop", "no-default"), "all", class},
		{"claim-backend-broken", graph.NewID(claim, "shop", "fast"), "all", pool},
		{"pod-device-busy", graph.NewID(pod, "shop", "formatted"), "all", longhornNode},
		{"autoscaler-without-metrics", graph.NewID(scaler, "shop", "web"), "all", apis},
		{"api-version-unserved", graph.NewID(pod, "shop", "none"), "all", crd},
		{"route-not-granted", graph.NewID(route, "shop", "web"), "all", grant},
		{"webhook-network-policy", graph.NewID(webhook, "", "blocked"), "selected", pod},
		{"service-range-deletion", graph.NewID(serviceRange, "", "used"), "all", serviceRange},
		{"service-address-on-request", graph.NewID(service, "shop", "plain"), "all", addressPool},
		{"limit-range", graph.NewID(set, "shop", "web-1"), "all", graph.Kind{Kind: "LimitRange"}},
		{"pod-network-policy", graph.NewID(pod, "shop", "blocked"), "selected", pod},
		{"pod-network-policy", graph.NewID(pod, "shop", "dns"), "all", service},
		{"pod-dns-failed", graph.NewID(pod, "shop", "nodejs"), "selected", pod},
	} {
		t.Run(test.file+" "+test.of, func(t *testing.T) {
			c, _ := load(t, "testdata/"+test.file+".yaml")
			c.evaluate(t)
			complete := cause.Of(c, c.Find(test.id))
			if complete == nil {
				t.Fatal("got no explanation with a complete list")
			}
			if v := cause.Of(cut{c, test.of, test.kind}, c.Find(test.id)); v != nil && describe(*v) == describe(*complete) {
				t.Errorf("got %s with a list that is cut", describe(*v))
			}
		})
	}
}

// withPods returns a cluster with a Service, its Ingress, and pods, the newest of which are unready pods of a rollout.
func withPods(t *testing.T, ready, unready int) *cluster {
	t.Helper()
	var text strings.Builder
	text.WriteString("{}\n---\n{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop, uid: s}, " +
		"spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}}\n" +
		"---\n{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, namespace: shop, uid: i}, " +
		"spec: {rules: [{http: {paths: [{path: /, backend: {service: {name: web, port: {number: 80}}}}]}}]}}\n")
	for n := range ready + unready {
		revision, status, port, state := "old", "True", "http", "{running: {}}"
		if n >= ready {
			revision, status, state = "new", "False", "{waiting: {reason: CrashLoopBackOff}}"
		}
		if n == ready-1 { // All others would have to lack the port for a verdict about it.
			port = "web"
		}
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: Pod, metadata: {name: web-%s-%d, namespace: shop, uid: p%d, "+
			"labels: {app: web, revision: %s}}, spec: {containers: [{name: app, ports: [{name: %s, containerPort: 80}]}]}, "+
			"status: {phase: Running, conditions: [{type: Ready, status: '%s'}], "+
			"containerStatuses: [{name: app, state: %s}]}}\n",
			revision, n, n, revision, port, status, state)
	}
	file := filepath.Join(t.TempDir(), "pods.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := load(t, file)
	c.evaluate(t)
	return c
}

// A Service has no ready endpoints only if none of its pods is ready, although a rule reads the newest pods first.
func TestServiceOfManyPods(t *testing.T) {
	for _, test := range []struct {
		ready, unready int
		want           string
	}{
		{2, 5 * neighbor.Limit, "ok"},
		{0, 2 * neighbor.Limit, "failed, Pod/web-new-0: The Service has no ready endpoints: none of its 200 pods is ready. " +
			"Container app: CrashLoopBackOff"},
		{0, 11 * neighbor.Limit, "ok"}, // Not all pods are read.
	} {
		t.Run(fmt.Sprintf("%d of %d", test.ready, test.ready+test.unready), func(t *testing.T) {
			c := withPods(t, test.ready, test.unready)
			service := c.objects[graph.NewID(graph.Kind{Kind: "Service"}, "shop", "web")].verdict
			if got := describe(service.Unpack()); got != test.want {
				t.Errorf("Service: got %s, want %s", got, test.want)
			}
			ingress := c.objects[graph.NewID(graph.Kind{Group: "networking.k8s.io", Kind: "Ingress"}, "shop", "web")].verdict
			if ingress.IsInherited() != service.Severity().IsProblem() {
				t.Errorf("Ingress: got %s for a Service that is %s", describe(ingress.Unpack()), service.Severity())
			}
		})
	}
}
