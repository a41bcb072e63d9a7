package subject

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// IsComplete reports whether an object has ended. An object that has ended without a problem does not need its attempts
// any more. Objects that are missing now possibly existed before it ended.
func IsComplete(n *neighbor.Neighbor) bool {
	o := neighbor.Decode[struct {
		Status struct {
			CompletionTime      string `json:"completionTime"`
			CompletionTimestamp string `json:"completionTimestamp"`
			FinishedAt          string `json:"finishedAt"`
		} `json:"status"`
	}](n.Object)
	return o.Status.CompletionTime != "" || o.Status.CompletionTimestamp != "" || o.Status.FinishedAt != ""
}

// IsFinished reports whether all containers of a pod have ended, and the kubelet starts none of them again.
func IsFinished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// HasEnded reports whether a container of a pod has ended at least once.
func HasEnded(p *corev1.Pod) bool { return len(ends(p)) > 0 }

// LastEnd returns when a container of the subject last ended, which is after the container wrote its last message. If
// the subject is not a pod, or the time is unknown, it returns the zero time. It ignores a time before the creation of
// the pod, because then the clock of the node is wrong.
func LastEnd(s *Subject) (last time.Time) {
	if s.ID.Kind != (graph.Kind{Kind: "Pod"}) {
		return last
	}
	p := neighbor.Decode[corev1.Pod](s.Object)
	for _, ended := range ends(&p) {
		if ended.FinishedAt.After(last) && !ended.FinishedAt.Time.Before(s.Object.Created()) {
			last = ended.FinishedAt.Time
		}
	}
	return last
}

// HasFailedContainer reports whether a container of a pod, or an init container, does not start or has failed.
func HasFailedContainer(p *corev1.Pod) bool {
	all := slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
	return slices.ContainsFunc(all, func(c corev1.ContainerStatus) bool {
		waiting, terminated := c.State.Waiting, c.State.Terminated
		return waiting != nil && !IsCreating(waiting.Reason) || terminated != nil && terminated.ExitCode != 0
	})
}

// IsCreating reports whether a container waits for this reason because the kubelet still prepares it.
func IsCreating(reason string) bool {
	return reason == "ContainerCreating" || reason == "PodInitializing"
}

func ends(p *corev1.Pod) (found []*corev1.ContainerStateTerminated) {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		for _, ended := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if ended != nil {
				found = append(found, ended)
			}
		}
	}
	return found
}
