package life

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

type target struct {
	namespace, name          string
	minReplicas, maxReplicas int
}

func targets() []target {
	return []target{
		{namespace: "shop", name: "storefront", minReplicas: 6, maxReplicas: 12},
		{namespace: "shop", name: "catalog", minReplicas: 4, maxReplicas: 9},
		{namespace: "shop", name: "cart", minReplicas: 3, maxReplicas: 7},
		{namespace: "shop", name: "search", minReplicas: 3, maxReplicas: 6},
		{namespace: "shop", name: "image-resizer", minReplicas: 1, maxReplicas: 6},
		{namespace: "payments", name: "gateway", minReplicas: 3, maxReplicas: 6},
		{namespace: "payments", name: "webhooks", minReplicas: 1, maxReplicas: 4},
		{namespace: "data", name: "stream-orders", minReplicas: 2, maxReplicas: 8},
		{namespace: "data", name: "stream-clicks", minReplicas: 2, maxReplicas: 6},
		{namespace: "monitoring", name: "grafana", minReplicas: 1, maxReplicas: 3},
		{namespace: "ci", name: "runner", minReplicas: 3, maxReplicas: 10},
	}
}

func rollOut(ctx context.Context, w clients) (string, error) {
	t := choose(targets()...)
	api := w.typed.AppsV1().Deployments(t.namespace)
	found, err := api.Get(ctx, t.name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("roll out a new version: %w", err)
	}
	container := found.Spec.Template.Spec.Containers[0]
	image := nextVersion(container.Image)
	patch := fmt.Appendf(
		nil, `{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":%q}]}}}}`, container.Name, image,
	)
	_, err = api.Patch(ctx, t.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{
		FieldManager: choose("kubectl-set", "argocd-controller", "deploy-bot"),
	})
	if err != nil {
		return "", fmt.Errorf("roll out a new version: %w", err)
	}
	return fmt.Sprintf("%s/%s rolls out %s", t.namespace, t.name, image), nil
}

// nextVersion increments the last digit of an image's tag (9 becomes 0), so that the versions repeat.
func nextVersion(image string) string {
	const modulus = 10
	return regexp.MustCompile(`\d$`).ReplaceAllStringFunc(image, func(digit string) string {
		n, _ := strconv.Atoi(digit)
		return strconv.Itoa((n + 1) % modulus)
	})
}

func scale(ctx context.Context, w clients) (string, error) {
	t := choose(targets()...)
	api := w.typed.AppsV1().Deployments(t.namespace)
	found, err := api.GetScale(ctx, t.name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("scale a Deployment: %w", err)
	}
	old := int(found.Spec.Replicas)
	replicas := min(t.maxReplicas, max(t.minReplicas, old+choose(-2, -1, 1, 2)))
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	_, err = api.Patch(
		ctx, t.name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: choose("kubectl", "autoscaler")}, "scale",
	)
	if err != nil {
		return "", fmt.Errorf("scale a Deployment: %w", err)
	}
	return fmt.Sprintf("%s/%s scales from %d to %d", t.namespace, t.name, old, replicas), nil
}

func restart(ctx context.Context, w clients) (string, error) {
	t := choose(targets()...)
	patch := fmt.Appendf(
		nil, `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`,
		time.Now().Format(time.RFC3339),
	)
	_, err := w.typed.AppsV1().Deployments(t.namespace).Patch(
		ctx, t.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-rollout"},
	)
	if err != nil {
		return "", fmt.Errorf("restart a workload: %w", err)
	}
	return fmt.Sprintf("%s/%s restarts", t.namespace, t.name), nil
}

func deletePod(ctx context.Context, w clients) (string, error) {
	t := choose(targets()...)
	api := w.typed.CoreV1().Pods(t.namespace)
	pods, err := api.List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + t.name})
	if err != nil {
		return "", fmt.Errorf("delete a pod: %w", err)
	}
	if len(pods.Items) == 0 {
		return "", fmt.Errorf("delete a pod: %s/%s has no pods", t.namespace, t.name)
	}
	name := pods.Items[rand.IntN(len(pods.Items))].Name //nolint:gosec // this random number is not security-relevant
	if err := api.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return "", fmt.Errorf("delete a pod: %w", err)
	}
	return fmt.Sprintf("pod %s/%s is deleted", t.namespace, name), nil
}
