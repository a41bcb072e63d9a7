// Package pod explains why a pod has a problem. It tries the rules that fit the state of the pod, and returns the first
// explanation. Its own rules are about the node, the owner, failed probes and the start order of containers. Rules for
// other topics, such as volumes and environment variables, are in the packages for these topics.
package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/environment"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/placement"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/pull"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/storage"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

//nolint:gochecknoglobals // Constant.
var nodeKind = graph.Kind{Kind: "Node"}

// Explain explains the problem of a pod by its node, by an object that it needs, or by its owner. It returns nil if
// the pod is OK, or if no rule explains its problem. The verdict is OK if the owner of a failed pod no longer needs it.
func Explain(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	p := neighbor.Decode[corev1.Pod](s.Object)
	if p.Status.Phase == corev1.PodFailed {
		return failedPod(s, &p)
	}
	// A network plugin is the cause of the problem of its node, not the reverse.
	if !subject.HasFailedContainer(&p) && !subject.IsNetworkPlugin(&p) {
		if v := failedNode(s, &p); v != nil {
			return v
		}
	}
	if s.Own.Reason == subject.Terminating {
		return notStopped(s)
	}
	if isStarted(&p) {
		return startedPod(s, &p)
	}
	if v := storage.EphemeralClaim(s, &p); v != nil {
		return v
	}
	if target := s.FirstMissing(func(u *graph.Use) bool { return explainsPod(s, u, &p) }); target != nil {
		return s.ReportMissing(target, verdict.Failed)
	}
	if v := pull.Failure(s, &p); v != nil {
		return v
	}
	for _, rule := range []podRule{placement.Unscheduled, placement.WithoutPreemption} {
		if v := rule(s, &p); v != nil {
			return v
		}
	}
	if !subject.HasFailedContainer(&p) {
		if v := storage.UnboundClaim(s, &p); v != nil {
			return v
		}
	}
	if v := lackedByContainer(s, &p); v != nil {
		return v
	}
	if !subject.IsCreating(s.Own.Reason) {
		return nil
	}
	return storage.MountFailure(s, &p)
}

// podRule returns a verdict that explains the problem of a pod, or nil.
type podRule func(*subject.Subject, *corev1.Pod) *verdict.Verdict

// startedPod explains a pod of which a container was started.
func startedPod(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	for _, rule := range []podRule{
		notConfigured, api.DefaultLimit, environment.Failure, probeFailure, beforeServer, mention.FailedComponent,
		mention.FailedTarget, pull.Failure,
	} {
		if v := rule(s, p); v != nil {
			return v
		}
	}
	return nil
}

// notConfigured explains a pod of which one container was started, but another one was not: an object for its
// environment is missing.
func notConfigured(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if s.Own.Reason != invalidConfig {
		return nil
	}
	return lackedByContainer(s, p)
}

// lackedByContainer explains a pod by the object or the key that a container lacks according to the kubelet.
func lackedByContainer(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if v := mention.MissingObject(s); v != nil {
		return v
	}
	if c := mention.MissingKey(s, p, s.Own.Sentence); c != nil {
		return s.Explain(s.Own.Severity, s.Own.Reason, s.Own.Sentence, c)
	}
	return nil
}

// invalidConfig is the reason of a container that the kubelet cannot create because of its configuration.
const invalidConfig = "CreateContainerConfigError"

// failedNode explains the problem of a pod by the problem of its node.
func failedNode(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if p.Spec.NodeName == "" {
		return nil
	}
	n := s.Find(graph.NewID(nodeKind, "", p.Spec.NodeName))
	if !s.IsFailed(&n) {
		return nil
	}
	return s.Inherit(&n, verdict.Failed, n.String()+": ")
}

// failedPod explains a failed pod by the owner that has replaced it, or by the node that has ended it.
func failedPod(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	v := retriedPod(s)
	switch {
	case v != nil:
	case slices.Contains([]string{"Terminated", "Shutdown", "NodeShutdown", "NodeLost"}, p.Status.Reason):
		return failedNode(s, p)
	case p.Status.Reason == "Evicted" && strings.Contains(p.Status.Message, "The node "):
		return evictedPod(s, p)
	}
	return v
}

// evictedPod explains a pod that was evicted because its node has too little memory or disk space.
func evictedPod(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	n := s.Find(graph.NewID(nodeKind, "", p.Spec.NodeName))
	if p.Spec.NodeName == "" || !s.HasProblem(&n) {
		return nil
	}
	return s.ExplainBy(&n, verdict.Failed, s.Own.Reason, s.Own.Sentence)
}

// notStopped explains a pod whose deletion takes too long, with the newest event about a failure to stop the pod.
func notStopped(s *subject.Subject) *verdict.Verdict {
	last := s.NewestEvent(func(e *corev1.Event) bool {
		return slices.Contains([]string{"FailedKillPod", "FailedPreStopHook", "ExceededGracePeriod"}, e.Reason)
	})
	if last == nil || !s.Own.Severity.IsProblem() {
		return nil
	}
	return extended(s, last.Message)
}

// explainsPod reports whether a missing object can be the reason for the state of a pod that has not started.
func explainsPod(s *subject.Subject, u *graph.Use, p *corev1.Pod) bool {
	isPullSecret := strings.HasSuffix(u.Via, "imagePullSecrets")
	switch s.Own.Reason {
	case "ErrImagePull", "ImagePullBackOff":
		return isPullSecret
	}
	if u.Target.Kind.Kind == "StorageClass" && p.Spec.NodeName != "" {
		return false // Of an ephemeral volume. The scheduler selects a node only if the claim of the volume is bound.
	}
	// The kubelet starts a pod even if its pull secrets are missing.
	return !isPullSecret && (!subject.HasFailedContainer(p) || s.Own.Reason == invalidConfig)
}

// isStarted reports whether a container of the pod was ever started. If so, the objects for the pod's volumes and for
// the environment of this container existed at that time.
func isStarted(p *corev1.Pod) bool {
	return hasContainer(p, func(c *corev1.ContainerStatus) bool {
		return c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil
	})
}

// hasContainer reports whether a container or an init container of the pod meets a condition.
func hasContainer(p *corev1.Pod, condition func(*corev1.ContainerStatus) bool) bool {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if condition(&c) {
			return true
		}
	}
	return false
}

// retriedPod returns OK for a failed pod whose owner is OK, because such an owner does not need the pod any more. It
// ignores a Node, which owns its static pods, because a node does not replace them.
func retriedPod(s *subject.Subject) *verdict.Verdict {
	_, owners := s.References(s.ID)
	for n := range owners {
		owner := s.Find(owners[n].ID)
		if owner.ID.Kind == nodeKind || owner.Object == nil || owner.Object.UID() != owners[n].UID ||
			owner.Object.Verdict().Severity() != verdict.OK {
			continue
		}
		return subject.ReplacedBy(&owner, "Replaced", "no longer needs this pod")
	}
	return nil
}
