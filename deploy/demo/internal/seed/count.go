package seed

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Count contains numbers of pods.
type Count struct {
	Total   int
	Stable  int // pods in their final state, healthy or not
	Running int
}

func (c Count) String() string {
	return fmt.Sprintf("%d of %d pods settled, %d running", c.Stable, c.Total, c.Running)
}

// WaitForPods waits until all pods have their final state, healthy or not. It calls report at most every two seconds.
func WaitForPods(ctx context.Context, client kubernetes.Interface, report func(Count)) error {
	var last Count
	for tick := 1; ; tick++ {
		count, err := countPods(ctx, client)
		if err != nil {
			return fmt.Errorf("count pods: %w", err)
		}
		if count.Stable == count.Total {
			report(count)
			return nil
		}
		const every = 4
		if tick%every == 0 && count != last {
			report(count)
			last = count
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// countPods counts all pods of the cluster. For namespace Big, it reads the status of the Deployments instead of
// the pods, because a list of 10,000 pods would overload the API server.
func countPods(ctx context.Context, client kubernetes.Interface) (Count, error) {
	company, big, err := countRequested(ctx, client)
	if err != nil {
		return Count{}, err
	}
	// ResourceVersion 0 reads from the API server's cache instead of etcd.
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
		ResourceVersion: "0", FieldSelector: "metadata.namespace!=" + Big,
	})
	if err != nil {
		return Count{}, err //nolint:wrapcheck // the caller wraps it
	}
	count := Count{Total: len(pods.Items) + big.requested, Stable: big.ready, Running: big.ready}
	controlled := 0
	for i := range pods.Items {
		pod := &pods.Items[i]
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind != "Job" {
			controlled++
		}
		if isChanging(pod) {
			continue
		}
		count.Stable++
		if pod.Status.Phase == corev1.PodRunning {
			count.Running++
		}
	}
	count.Total += max(0, company.requested-controlled)
	return count, nil
}

func isChanging(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	if pod.Status.Phase == corev1.PodRunning {
		// A running pod of a Job is still changing if it will complete within 15 s. RestartPolicy Never identifies the pods
		// of Jobs.
		duration, err := time.ParseDuration(pod.Annotations["demo.glasshouse/runs-for"])
		return err == nil && duration < 15*time.Second && pod.Spec.RestartPolicy == corev1.RestartPolicyNever
	}
	if pod.Status.Phase != corev1.PodPending {
		return false
	}
	if pod.Spec.NodeName == "" {
		return len(pod.Status.Conditions) == 0 // true until the scheduler has processed the pod
	}
	return pod.Status.PodIP == "" || isStarting(pod)
}

func isStarting(pod *corev1.Pod) bool {
	for i := range pod.Status.InitContainerStatuses {
		if pod.Status.InitContainerStatuses[i].State.Running != nil {
			return false // a running init container never ends in the demo, so this state is final
		}
	}
	for i := range pod.Status.ContainerStatuses {
		waiting := pod.Status.ContainerStatuses[i].State.Waiting
		if waiting != nil && (waiting.Reason == "ContainerCreating" || waiting.Reason == "PodInitializing") {
			return true
		}
	}
	return false
}
