package incidents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// verify reports differences between the cluster and the fixtures: statuses that were overwritten, and objects that do
// not exist, although a fixture lists them as expected or healthy.
func (c *testCluster) verify(ctx context.Context, fixtures []*fixture, k *kubelet) error {
	var failures []error
	existing := make(map[string][]object)
	for _, f := range fixtures {
		for i := range f.documents {
			if o := f.documents[i].object; o != nil && o.Object["status"] != nil && !isNode(o) {
				if err := c.keepsStatus(ctx, o, f.namespace); err != nil {
					failures = append(failures, fmt.Errorf("%s: %w", f.name, err))
				}
			}
		}
		named := slices.Clone(f.Healthy)
		for i := range f.Expect {
			named = append(named, f.Expect[i].reference)
		}
		for _, r := range named {
			if existing[r.Resource] == nil {
				list, err := c.list(ctx, &r)
				if err != nil {
					return err
				}
				existing[r.Resource] = list
			}
			if !slices.ContainsFunc(existing[r.Resource], func(o object) bool { return f.matches(&r, &o) }) {
				failures = append(failures, fmt.Errorf("%s: %s does not exist", f.name, &r))
			}
		}
	}
	return errors.Join(append(failures, k.verify())...)
}

func (c *testCluster) list(ctx context.Context, r *reference) ([]object, error) {
	list, err := c.Dynamic.Resource(r.gvr()).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", r.Resource, err)
	}
	objects := []object{}
	for i := range list.Items {
		objects = append(objects, object{r.Resource, list.Items[i].GetNamespace(), list.Items[i].GetName()})
	}
	return objects, nil
}

func (c *testCluster) keepsStatus(ctx context.Context, o *unstructured.Unstructured, namespace string) error {
	resource, isNamespaced := c.resourceOf(o.GroupVersionKind())
	switch {
	case !isNamespaced:
		namespace = ""
	case o.GetNamespace() != "":
		namespace = o.GetNamespace()
	}
	live, err := c.api(resource, namespace).Get(ctx, o.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if path := difference(o.Object["status"], live.Object["status"]); path != "" {
		return fmt.Errorf("the status of %s %s was overwritten at %s", o.GetKind(), o.GetName(), path)
	}
	return nil
}

// verify returns an error for each pod whose status another writer has overwritten after this kubelet reported it.
func (k *kubelet) verify() error {
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	var failures []error
	for _, pod := range pods {
		want, ok := k.reported[pod.UID]
		if !ok {
			continue
		}
		live := make(map[string]any)
		text, err := json.Marshal(pod.Status)
		if err == nil {
			err = json.Unmarshal(text, &live)
		}
		for _, member := range []string{"phase", "reason", "containerStatuses", "initContainerStatuses"} {
			if path := difference(want[member], live[member]); path != "" && err == nil {
				err = fmt.Errorf("its status was overwritten at %s%s", member, path)
			}
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err))
		}
	}
	return errors.Join(failures...)
}

// difference returns the path of the first member of want that got does not have. It ignores times.
func difference(want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok && len(w) > 0 {
			return "."
		}
		for name := range w {
			if path := difference(w[name], g[name]); path != "" {
				return "." + name + path
			}
		}
	case []any:
		g, ok := got.([]any)
		if len(w) > 0 && (!ok || len(g) < len(w)) {
			return "[]"
		}
		for i := range w {
			if path := difference(w[i], g[i]); path != "" {
				return fmt.Sprintf("[%d]%s", i, path)
			}
		}
	case nil:
	default:
		if _, err := time.Parse(time.RFC3339, fmt.Sprint(w)); err == nil {
			return ""
		}
		if fmt.Sprint(want) != fmt.Sprint(got) && fmt.Sprint(want) != "" && fmt.Sprint(want) != "0" {
			return fmt.Sprintf(": got %v, want %v", got, want)
		}
	}
	return ""
}
