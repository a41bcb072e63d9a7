//go:build integration

package main

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

type relatedGraph struct {
	Nodes []struct {
		ID, Ref, Kind, NS, Name, UID, State, Reason string
		Count                                       int
	}
	Edges     []struct{ From, To, Type, Via string }
	Truncated bool
	Searched  []struct{ Ref, State, Reason string }
}

func (r *relatedGraph) targets(from, kind string) (names []string) {
	for _, e := range r.Edges {
		if e.From == from && e.Type == kind {
			names = append(names, e.To)
		}
	}
	slices.Sort(names)
	return names
}

// Invariant: I27.
func TestRelationsMatchTheObjects(t *testing.T) {
	d := startReady(t, adminConfig(t))
	c := newAPIClient(t, adminConfig(t))
	related := func(object string) *relatedGraph {
		n := new(relatedGraph)
		d.getJSON("/api/v1/related/"+object, n)
		for _, s := range n.Searched {
			if s.State != "live" {
				t.Errorf("%s: resource %s is %s: %s; want live", object, s.Ref, s.State, s.Reason)
			}
		}
		return n
	}
	pods, err := c.core.Pods("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	services, err := c.core.Services("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	byOwner := make(map[string][]string)
	for i := range pods.Items {
		pod := &pods.Items[i]
		id := "core/pods/shop/" + pod.Name
		for _, owner := range pod.OwnerReferences {
			if owner.Kind == "ReplicaSet" {
				byOwner[owner.Name] = append(byOwner[owner.Name], id)
			}
		}
		if i%7 > 0 {
			continue // Check only every seventh pod, because each check requests about twelve objects.
		}
		n := related("core/v1/pods/shop/" + pod.Name)
		want := slices.Sorted(maps.Keys(referencedIDs(pod)))
		if got := n.targets(id, "uses"); !slices.Equal(got, want) {
			t.Errorf("pod %s uses %q, want %q", pod.Name, got, want)
		}
		selecting := []string{}
		for _, e := range n.Edges {
			if e.To == id && e.Type == "selects" && strings.HasPrefix(e.From, "core/services/") {
				selecting = append(selecting, e.From)
			}
		}
		slices.Sort(selecting)
		if want := selectingServices(services.Items, pod); !slices.Equal(selecting, want) {
			t.Errorf("pod %s is selected by %q, want %q", pod.Name, selecting, want)
		}
	}
	for name, want := range byOwner {
		slices.Sort(want)
		n := related("apps/v1/replicasets/shop/" + name)
		if got := n.targets("apps/replicasets/shop/"+name, "owns"); !slices.Equal(got, want) {
			t.Errorf("ReplicaSet %s owns %q, want %q", name, got, want)
		}
		if root := n.Edges[0]; root.Type != "owns" || !strings.HasPrefix(root.From, "apps/deployments/shop/") {
			t.Errorf("pod %s: the first edge is %+v, want one from its Deployment", name, root)
		}
	}
	for object, wantNode := range map[string]string{
		"core/v1/services/shop/storefront":               "networking.k8s.io/ingresses/shop/",
		"core/v1/serviceaccounts/shop/storefront":        "rolebindings/shop/storefront",
		"apps/v1/deployments/shop/storefront":            "autoscaling/horizontalpodautoscalers/shop/",
		"core/v1/nodes/_/" + pods.Items[0].Spec.NodeName: "core/pods/",
		"apps/v1/statefulsets/data/postgres":             "core/services/data/",
	} {
		t.Run(object, func(t *testing.T) {
			if text := fmt.Sprint(related(object)); !strings.Contains(text, wantNode) {
				t.Errorf("got graph %s, want %s in it", text, wantNode)
			}
		})
	}
	d.stop()
	limited := startReady(t, filepath.Join(filepath.Dir(adminConfig(t)), "kubeconfig-limited"))
	n := new(relatedGraph)
	limited.getJSON("/api/v1/related/core/v1/pods/shop/"+pods.Items[0].Name, n)
	states := make(map[string]string)
	for _, node := range n.Nodes {
		states[node.Kind] = node.State
	}
	if states["Pod"] != "there" || states["Node"] != "forbidden" {
		t.Errorf("user with access to one namespace: got node states %v, want Pod there and Node forbidden", states)
	}
	if body, status := limited.request("/api/v1/related/core/v1/pods/data/postgres-0"); status != http.StatusForbidden {
		t.Errorf("pod that the user may not read: got %d %s, want 403", status, body)
	}
}

// referencedIDs returns the IDs of the objects that a pod uses. It knows only references that the demo cluster has.
func referencedIDs(pod *corev1.Pod) map[string]bool {
	ids := map[string]bool{"core/serviceaccounts/shop/" + pod.Spec.ServiceAccountName: true}
	add := func(kind, name string) {
		if name != "" {
			ids[kind+name] = true
		}
	}
	add("core/nodes/_/", pod.Spec.NodeName)
	add("scheduling.k8s.io/priorityclasses/_/", pod.Spec.PriorityClassName)
	for _, s := range pod.Spec.ImagePullSecrets {
		add("core/secrets/shop/", s.Name)
	}
	for _, v := range pod.Spec.Volumes {
		if v.ConfigMap != nil {
			add("core/configmaps/shop/", v.ConfigMap.Name)
		}
		if v.Secret != nil {
			add("core/secrets/shop/", v.Secret.SecretName)
		}
		if v.PersistentVolumeClaim != nil {
			add("core/persistentvolumeclaims/shop/", v.PersistentVolumeClaim.ClaimName)
		}
		if v.Projected != nil {
			for _, s := range v.Projected.Sources {
				if s.ConfigMap != nil {
					add("core/configmaps/shop/", s.ConfigMap.Name)
				}
			}
		}
	}
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, e := range container.EnvFrom {
			if e.ConfigMapRef != nil {
				add("core/configmaps/shop/", e.ConfigMapRef.Name)
			}
			if e.SecretRef != nil {
				add("core/secrets/shop/", e.SecretRef.Name)
			}
		}
		for _, e := range container.Env {
			if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
				add("core/configmaps/shop/", e.ValueFrom.ConfigMapKeyRef.Name)
			}
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				add("core/secrets/shop/", e.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
	return ids
}

func selectingServices(services []corev1.Service, pod *corev1.Pod) []string {
	ids := []string{}
	for i := range services {
		if s := &services[i]; len(s.Spec.Selector) > 0 &&
			labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			ids = append(ids, "core/services/shop/"+s.Name)
		}
	}
	slices.Sort(ids)
	return ids
}
