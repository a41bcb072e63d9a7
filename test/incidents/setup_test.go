package incidents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/glasshouse-project/glasshouse/test/faults/cluster"
)

// testCluster creates the objects of the fixtures in the cluster.
type testCluster struct {
	*cluster.Cluster

	mapper meta.RESTMapper
}

var crdResource = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// open creates the CustomResourceDefinitions in testdata/crds and withheld/crds, and waits until they are served.
func open(ctx context.Context) (*testCluster, error) {
	base, err := cluster.Open()
	if err != nil {
		return nil, err
	}
	c := &testCluster{Cluster: base}
	files, err := filepath.Glob("*/crds/*.yaml")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // The files are those of testdata.
		if err != nil {
			return nil, err
		}
		documents := yaml.NewYAMLReader(newReader(text))
		for {
			text, err := documents.Read()
			if err != nil {
				break // The end of the file.
			}
			crd := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(text, &crd.Object); err != nil {
				return nil, fmt.Errorf("read %s: %w", file, err)
			}
			if crd.Object == nil {
				continue
			}
			names = append(names, crd.GetName())
			if _, err := base.Dynamic.Resource(crdResource).Apply(ctx, crd.GetName(), crd, applyOptions()); err != nil {
				return nil, fmt.Errorf("apply %s: %w", crd.GetName(), err)
			}
		}
	}
	for _, name := range names {
		if err := retry(ctx, func() error { return c.isServed(ctx, name) }); err != nil {
			return nil, err
		}
	}
	groups, err := restmapper.GetAPIGroupResources(base.Core.Discovery())
	if err != nil {
		return nil, fmt.Errorf("discover the kinds: %w", err)
	}
	c.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	return c, nil
}

func (c *testCluster) isServed(ctx context.Context, name string) error {
	crd, err := c.Dynamic.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("%s is not served yet", name)
}

// addNode creates a node with a label that makes kwok ignore the node. It also creates a lease of the node, which does
// not expire and has a holder other than kwok. The label is necessary: the lease protects the pods of the node from
// kwok only if kwok started its stages for nodes before its stages for pods.
func (c *testCluster) addNode(ctx context.Context, node *unstructured.Unstructured) error {
	name := node.GetName()
	lease := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": name, "namespace": corev1.NamespaceNodeLease},
		"spec": map[string]any{
			"holderIdentity": identity, "leaseDurationSeconds": int64(24 * 60 * 60),
			"renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
		},
	}}
	if err := c.apply(ctx, lease, corev1.NamespaceNodeLease); err != nil {
		return err
	}
	labels := map[string]string{
		"demo.glasshouse/kubelet": "other",
		corev1.LabelHostname:      name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		corev1.LabelTopologyZone: "eu-north-1a", corev1.LabelTopologyRegion: "eu-north-1",
	}
	maps.Copy(labels, node.GetLabels())
	node.SetLabels(labels)
	if _, ok, _ := unstructured.NestedSlice(node.Object, "spec", "taints"); !ok {
		// Without a taint, the scheduler of the demo cluster could put other pods on this node.
		taint := map[string]any{"key": "incidents", "value": "only", "effect": "NoSchedule"}
		_ = unstructured.SetNestedSlice(node.Object, []any{taint}, "spec", "taints")
	}
	size := map[string]any{"cpu": "64", "memory": "512Gi", "pods": "500", "ephemeral-storage": "500Gi"}
	status, _, _ := unstructured.NestedMap(node.Object, "status")
	if status == nil {
		status = map[string]any{}
	}
	if status["conditions"] == nil {
		status["conditions"] = healthyConditions()
	}
	if status["allocatable"] == nil {
		status["capacity"], status["allocatable"] = size, size
	}
	status["addresses"] = []any{
		map[string]any{"type": "InternalIP", "address": "10.11.0.1"}, map[string]any{"type": "Hostname", "address": name},
	}
	status["nodeInfo"] = map[string]any{
		"architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": "v1.36.3", "bootID": "", "machineID": "",
		"systemUUID": "", "kernelVersion": "6.12.41", "osImage": "Debian GNU/Linux 13 (trixie)", "kubeProxyVersion": "",
		"containerRuntimeVersion": "containerd://2.1.4",
	}
	node.Object["status"] = status
	return c.apply(ctx, node, "")
}

func healthyConditions() []any {
	now := time.Now().UTC().Format(time.RFC3339)
	var conditions []any
	for _, c := range [][3]string{
		{"MemoryPressure", "False", "KubeletHasSufficientMemory"},
		{"DiskPressure", "False", "KubeletHasNoDiskPressure"},
		{"PIDPressure", "False", "KubeletHasSufficientPID"},
		{"Ready", "True", "KubeletReady"},
	} {
		conditions = append(conditions, map[string]any{
			"type": c[0], "status": c[1], "reason": c[2], "message": "", "lastTransitionTime": now, "lastHeartbeatTime": now,
		})
	}
	return conditions
}

// create makes the namespace of the fixture and then its objects, in their order.
func (c *testCluster) create(ctx context.Context, f *fixture) error {
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": f.namespace},
	}}
	namespace.SetLabels(f.Labels)
	if err := c.apply(ctx, namespace, ""); err != nil {
		return err
	}
	for i := range f.documents {
		if err := c.execute(ctx, &f.documents[i], f.namespace); err != nil {
			return fmt.Errorf("document %d: %w", i+2, err)
		}
	}
	return nil
}

func (c *testCluster) execute(ctx context.Context, d *document, namespace string) error {
	switch {
	case d.wait != nil:
		return retry(ctx, func() error { return c.isAvailable(ctx, d.wait, namespace) })
	case d.remove != nil:
		err := c.api(d.remove.gvr(), d.remove.in(namespace)).Delete(ctx, d.remove.Name, metav1.DeleteOptions{})
		if err != nil {
			return fmt.Errorf("delete %s: %w", d.remove, err)
		}
		return nil
	case isNode(d.object):
		return nil // startKubelet has created the node.
	}
	return c.apply(ctx, d.object, namespace)
}

func (r *reference) gvr() schema.GroupVersionResource {
	part := strings.Split(r.Resource, "/")
	if part[0] == "core" {
		part[0] = ""
	}
	return schema.GroupVersionResource{Group: part[0], Version: part[1], Resource: part[2]}
}

// in returns the namespace of the referenced object. For a cluster-scoped object, it returns "". If the reference
// contains no namespace, it returns the parameter.
func (r *reference) in(namespace string) string {
	switch {
	case r.Namespace == "-":
		return ""
	case r.Namespace != "":
		return r.Namespace
	}
	return namespace
}

func (c *testCluster) api(resource schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return c.Dynamic.Resource(resource)
	}
	return c.Dynamic.Resource(resource).Namespace(namespace)
}

// isNode reports whether an object is a node of the cluster. Longhorn has another kind with the name Node.
func isNode(o *unstructured.Unstructured) bool {
	return o.GetAPIVersion() == "v1" && o.GetKind() == "Node"
}

func (c *testCluster) isAvailable(ctx context.Context, r *reference, namespace string) error {
	o, err := c.api(r.gvr(), r.in(namespace)).Get(ctx, r.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	replicas, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	available, _, _ := unstructured.NestedInt64(o.Object, "status", "availableReplicas")
	succeeded, _, _ := unstructured.NestedInt64(o.Object, "status", "succeeded")
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	_, isCounted, _ := unstructured.NestedMap(o.Object, "status", "hard") // Set once a ResourceQuota is counted.
	if isCounted || replicas > 0 && available >= replicas || succeeded > 0 ||
		phase == "Bound" || phase == "Running" || phase == "Failed" {
		return nil
	}
	return fmt.Errorf("%s is not available yet", r)
}

// apply creates or updates an object, and writes its status through the subresource.
func (c *testCluster) apply(ctx context.Context, object *unstructured.Unstructured, namespace string) error {
	resource, isNamespaced := c.resourceOf(object.GroupVersionKind())
	switch {
	case !isNamespaced:
		namespace = ""
	case object.GetNamespace() != "":
		namespace = object.GetNamespace()
	}
	object = object.DeepCopy()
	object.SetNamespace(namespace)
	useOwnScheduler(object)
	api := c.api(resource, namespace)
	status := object.Object["status"]
	delete(object.Object, "status")
	err := retry(ctx, func() error {
		if err := c.resolveOwners(ctx, object); err != nil {
			return err
		}
		_, err := api.Apply(ctx, object.GetName(), object, applyOptions())
		return err
	})
	if err == nil && object.GetKind() == "Namespace" {
		// Wait for the ServiceAccount "default" of the new namespace, because the API server rejects pods without it.
		err = retry(ctx, func() error {
			_, err := c.Core.CoreV1().ServiceAccounts(object.GetName()).Get(ctx, "default", metav1.GetOptions{})
			return err
		})
	}
	if err == nil && status != nil {
		err = retry(ctx, func() error {
			patch, err := json.Marshal(map[string]any{"status": status})
			if err != nil {
				return err
			}
			_, err = api.Patch(ctx, object.GetName(), types.MergePatchType, patch,
				metav1.PatchOptions{FieldManager: "controller"}, "status")
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func applyOptions() metav1.ApplyOptions {
	return metav1.ApplyOptions{FieldManager: "kubectl", Force: true}
}

func (c *testCluster) resourceOf(
	kind schema.GroupVersionKind,
) (resource schema.GroupVersionResource, isNamespaced bool) {
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil { // Custom resources of fixtures are unknown: guess the plural.
		resource, _ = meta.UnsafeGuessKindToResource(kind)
		return resource, true
	}
	return mapping.Resource, mapping.Scope.Name() == meta.RESTScopeNameNamespace
}

// resolveOwners sets the UIDs of owners from their names.
func (c *testCluster) resolveOwners(ctx context.Context, object *unstructured.Unstructured) error {
	owners := object.GetOwnerReferences()
	for i := range owners {
		o := &owners[i]
		resource, _ := c.resourceOf(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
		found, err := c.api(resource, object.GetNamespace()).Get(ctx, o.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		o.UID = found.GetUID()
	}
	if len(owners) > 0 {
		object.SetOwnerReferences(owners)
	}
	return nil
}

// useOwnScheduler sets the test's scheduler name in the pods of an object that names no scheduler.
func useOwnScheduler(object *unstructured.Unstructured) {
	for _, path := range [][]string{
		{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"},
	} {
		spec, ok, _ := unstructured.NestedMap(object.Object, path...)
		if ok && spec["containers"] != nil && spec["schedulerName"] == nil && spec["nodeName"] == nil {
			_ = unstructured.SetNestedField(object.Object, scheduler, append(path, "schedulerName")...)
		}
	}
}

// retry repeats an operation until it succeeds, because objects on which it depends can appear late.
func retry(ctx context.Context, operation func() error) error {
	var last error
	const interval, timeout = 300 * time.Millisecond, 3 * time.Minute
	err := wait.PollUntilContextTimeout(ctx, interval, timeout, true, func(context.Context) (bool, error) {
		last = operation()
		if apierrors.IsInvalid(last) || apierrors.IsBadRequest(last) {
			return false, last
		}
		return last == nil, nil
	})
	if err != nil && last != nil {
		return errors.Join(err, last)
	}
	return err
}

// createAll creates the objects of all fixtures, up to 24 fixtures concurrently.
func (c *testCluster) createAll(ctx context.Context, fixtures []*fixture) error {
	group := errgroup.Group{}
	group.SetLimit(24)
	failures := make([]error, len(fixtures))
	for i, f := range fixtures {
		group.Go(func() error {
			if err := c.create(ctx, f); err != nil {
				failures[i] = fmt.Errorf("fixture %s: %w", f.name, err)
			}
			return nil
		})
	}
	_ = group.Wait() // The errors are in failures.
	return errors.Join(failures...)
}
