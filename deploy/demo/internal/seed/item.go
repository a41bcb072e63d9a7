package seed

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

func (i Item) apply(ctx context.Context, client dynamic.Interface, opts Options) error {
	object := i.Object.DeepCopy()
	unstructured.RemoveNestedField(object.Object, "status")
	if opts.SuspendCronJobs && object.GetKind() == "CronJob" {
		_ = unstructured.SetNestedField(object.Object, true, "spec", "suspend")
	}
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	var api dynamic.ResourceInterface = client.Resource(resource)
	if object.GetNamespace() != "" {
		api = client.Resource(resource).Namespace(object.GetNamespace())
	}
	err := retryUntilReady(ctx, func() error {
		if i.Manager == clientSide {
			return createAsKubectl(ctx, api, object)
		}
		_, err := api.Apply(ctx, object.GetName(), object, applyAs(i.Manager))
		return err //nolint:wrapcheck // wrapped below
	})
	if err == nil && i.StatusManager != "" {
		_, err = api.ApplyStatus(ctx, object.GetName(), i.status(), applyAs(i.StatusManager))
	}
	if err != nil {
		return fmt.Errorf("apply %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return nil
}

// delete deletes the pod as soon as the pod runs. A pod that is deleted earlier is Failed instead of Terminating.
func (i Item) delete(ctx context.Context, client kubernetes.Interface) error {
	pods := client.CoreV1().Pods(i.Object.GetNamespace())
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 20*time.Second, true,
		func(ctx context.Context) (bool, error) {
			pod, err := pods.Get(ctx, i.Object.GetName(), metav1.GetOptions{})
			return err == nil && pod.Status.Phase == corev1.PodRunning, nil
		})
	if err == nil || ctx.Err() == nil {
		err = pods.Delete(ctx, i.Object.GetName(), metav1.DeleteOptions{})
	}
	if err != nil {
		return fmt.Errorf("delete pod %s/%s: %w", i.Object.GetNamespace(), i.Object.GetName(), err)
	}
	return nil
}

func (i Item) status() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"status": i.Object.Object["status"]}}
	object.SetGroupVersionKind(i.Object.GroupVersionKind())
	object.SetNamespace(i.Object.GetNamespace())
	object.SetName(i.Object.GetName())
	return object
}

// createAsKubectl creates an object as kubectl apply does without --server-side. It keeps an existing object.
func createAsKubectl(ctx context.Context, api dynamic.ResourceInterface, object *unstructured.Unstructured) error {
	last, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode last applied configuration: %w", err)
	}
	object = object.DeepCopy()
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(last) + "\n"
	object.SetAnnotations(annotations)
	_, err = api.Create(ctx, object, metav1.CreateOptions{FieldManager: clientSide})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err //nolint:wrapcheck // the caller names the object
}

// retryUntilReady retries for up to 20 seconds while the cluster is not ready. For example, the default service account
// of a namespace does not exist at first.
func retryUntilReady(ctx context.Context, operation func() error) error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		err := operation()
		isTransient := apierrors.IsNotFound(err) || apierrors.IsConflict(err) ||
			apierrors.IsForbidden(err) &&
				(strings.Contains(err.Error(), "service account") ||
					strings.Contains(err.Error(), "serviceaccount") ||
					strings.Contains(err.Error(), "status unknown for quota"))
		if !isTransient || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
