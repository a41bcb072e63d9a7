package seed

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Count says how far the pods have come.
type Count struct {
	Total   int // pods that there are, and those still to be made for a Deployment, StatefulSet or DaemonSet
	Settled int // pods in a state to stay in, be it a good or a bad one
	Running int // of these, in phase Running
}

func (c Count) String() string {
	return fmt.Sprintf("%d of %d pods settled, %d running", c.Settled, c.Total, c.Running)
}

// Settle blocks until all pods that are ordered have found the state they stay in, be it a good or a bad one. It
// reports each count that differs from the one before, at most every two seconds.
func Settle(ctx context.Context, client kubernetes.Interface, report func(Count)) error {
	var last Count
	for tick := 1; ; tick++ {
		count, err := countPods(ctx, client)
		if err != nil {
			return fmt.Errorf("count pods: %w", err)
		}
		if count.Settled == count.Total {
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

// countPods looks at each pod of the company, and asks the Deployments of namespace Big how theirs are: to list ten
// thousand pods twice a second would keep the API server busier than to make them.
func countPods(ctx context.Context, client kubernetes.Interface) (Count, error) {
	company, crowd, err := countOrdered(ctx, client)
	if err != nil {
		return Count{}, err
	}
	// From the API server's cache, so that asking often costs etcd nothing.
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
		ResourceVersion: "0", FieldSelector: "metadata.namespace!=" + Big,
	})
	if err != nil {
		return Count{}, err //nolint:wrapcheck // the caller says what failed
	}
	count := Count{Total: len(pods.Items) + crowd.ordered, Settled: crowd.ready, Running: crowd.ready}
	controlled := 0
	for i := range pods.Items {
		pod := &pods.Items[i]
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind != "Job" {
			controlled++
		}
		if moving(pod) {
			continue
		}
		count.Settled++
		if pod.Status.Phase == corev1.PodRunning {
			count.Running++
		}
	}
	count.Total += max(0, company.ordered-controlled)
	return count, nil
}

// moving says that the pod waits to be looked at by the scheduler, or is on its way to run.
func moving(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	if pod.Status.Phase == corev1.PodRunning {
		// A Job's pod is on its way to be done, unless that is to take long; none of the workload's restarts.
		runs, err := time.ParseDuration(pod.Annotations["demo.glasshouse/runs-for"])
		return err == nil && runs < 15*time.Second && pod.Spec.RestartPolicy == corev1.RestartPolicyNever
	}
	if pod.Status.Phase != corev1.PodPending {
		return false
	}
	if pod.Spec.NodeName == "" {
		return len(pod.Status.Conditions) == 0 // else the scheduler has said that it cannot
	}
	return pod.Status.PodIP == "" || onTheWay(pod)
}

func onTheWay(pod *corev1.Pod) bool {
	for i := range pod.Status.InitContainerStatuses {
		if pod.Status.InitContainerStatuses[i].State.Running != nil {
			return false // waits for its init container, by design
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
