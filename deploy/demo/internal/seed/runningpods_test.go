package seed_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/seed"
)

func TestWrittenPodsRun(t *testing.T) {
	client := fake.NewClientset()
	const nodes, total = 12, 600
	var reported []int
	writePods := func() {
		t.Helper()
		if err := seed.WriteRunningPods(t.Context(), client, nodes, total, func(done int) {
			reported = append(reported, done)
		}); err != nil {
			t.Fatal(err)
		}
	}
	writePods()
	if want := []int{250, 500, 600}; !slices.Equal(reported, want) {
		t.Errorf("reported progress is %v, want %v", reported, want)
	}
	pods, err := client.CoreV1().Pods(seed.Big).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != total {
		t.Fatalf("got %d pods, error %v; want %d", len(pods.Items), err, total)
	}
	addresses := make(map[string]bool)
	for _, pod := range pods.Items {
		addresses[pod.Status.PodIP] = true
		if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodRunning || metav1.GetControllerOf(&pod) == nil {
			t.Fatalf(
				"pod %s has phase %s, node %q, owners %v", pod.Name, pod.Status.Phase, pod.Spec.NodeName, pod.OwnerReferences,
			)
		}
	}
	if len(addresses) != total {
		t.Errorf("got %d addresses for %d pods", len(addresses), total)
	}
	client.ClearActions()
	writePods()
	for _, action := range client.Actions() {
		if action.GetResource().Resource == "pods" {
			t.Fatalf("second run: got action %s on a pod", action.GetVerb())
		}
	}
}
