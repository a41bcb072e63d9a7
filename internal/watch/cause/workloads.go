package cause

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

const (
	podsRef   = "core/v1/pods"
	eventsRef = "core/v1/events"
)

var (
	podKind   = graph.Kind{Kind: "Pod"}   //nolint:gochecknoglobals // Constant.
	nodeKind  = graph.Kind{Kind: "Node"}  //nolint:gochecknoglobals // Constant.
	eventKind = graph.Kind{Kind: "Event"} //nolint:gochecknoglobals // Constant.
)

// pod explains a pod by its node, by what it needs, or by its owner.
func pod(s *subject) *verdict.Verdict {
	if s.own.Severity <= verdict.OK {
		return nil
	}
	p := neighbor.Decode[corev1.Pod](s.Object)
	if p.Status.Phase == corev1.PodFailed {
		return retriedPod(s)
	}
	if p.Spec.NodeName != "" {
		node := s.Find(graph.NewID(nodeKind, "", p.Spec.NodeName))
		if s.hasProblem(&node) && node.Object.Verdict().Severity() == verdict.Failed && !hasFailedContainer(&p) {
			return s.because(verdict.Failed, &node, "Node "+p.Spec.NodeName+": ")
		}
	}
	if isStarted(&p) {
		return nil
	}
	if target := s.firstMissing(func(u *graph.Use) bool { return explainsPod(s, u, &p) }); target != nil {
		return s.missing(verdict.Failed, target)
	}
	uses, _ := s.References(s.ID)
	for n := range uses {
		if uses[n].Target.Kind.Kind != "PersistentVolumeClaim" || hasFailedContainer(&p) {
			continue
		}
		pvc := s.Find(uses[n].Target)
		isPending := pvc.Object != nil && pvc.Object.Verdict().Severity() > verdict.OK
		if s.hasProblem(&pvc) || isUnscheduled(&p) && isPending {
			return s.because(pvc.Object.Verdict().Severity(), &pvc, "PersistentVolumeClaim "+pvc.ID.Name()+": ")
		}
	}
	if v := namedMissing(s); v != nil {
		return v
	}
	if c := withoutKey(s, &p, s.own.Sentence); c != nil {
		return s.inherit(s.own.Severity, s.own.Reason, s.own.Sentence, c)
	}
	return s.mountFailure(&p)
}

// mountFailure explains a pod that waits for its volumes or its network by the newest event about them.
func (s *subject) mountFailure(p *corev1.Pod) *verdict.Verdict {
	if s.own.Reason != "ContainerCreating" && s.own.Reason != "PodInitializing" {
		return nil
	}
	message := s.lastEvent("FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox")
	if message == "" {
		return nil
	}
	return s.inherit(verdict.Degraded, "FailedMount", message, withoutKey(s, p, message))
}

// explainsPod reports whether a missing object can be the reason for the state of a pod that has not started.
func explainsPod(s *subject, u *graph.Use, p *corev1.Pod) bool {
	isPullSecret := strings.HasSuffix(u.Via, "imagePullSecrets")
	switch s.own.Reason {
	case "ErrImagePull", "ImagePullBackOff":
		return isPullSecret
	}
	// The kubelet starts a pod even if its pull secrets are missing.
	return !isPullSecret && (!hasFailedContainer(p) || s.own.Reason == "CreateContainerConfigError")
}

// isStarted reports whether a container of the pod has been started. If so, its volumes and environment existed then.
func isStarted(p *corev1.Pod) bool {
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for n := range statuses {
			c := &statuses[n]
			if c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil {
				return true
			}
		}
	}
	return false
}

func isUnscheduled(p *corev1.Pod) bool { return p.Spec.NodeName == "" }

func hasFailedContainer(p *corev1.Pod) bool {
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for n := range statuses {
			c := &statuses[n]
			if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
				return true
			}
			if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
				return true
			}
		}
	}
	return false
}

// retriedPod returns OK for a failed pod whose owner is OK, because the owner has replaced the pod.
func retriedPod(s *subject) *verdict.Verdict {
	_, owners := s.References(s.ID)
	for n := range owners {
		owner := s.Find(owners[n].ID)
		if owner.Object == nil || owner.Object.UID() != owners[n].UID || owner.Object.Verdict().Severity() != verdict.OK {
			continue
		}
		return &verdict.Verdict{
			Severity: verdict.OK, Reason: "Replaced",
			Sentence: owner.ID.Kind.Kind + " " + owner.ID.Name() + " has replaced this pod",
			Cause:    &verdict.Cause{Object: neighbor.ObjectOf(&owner)},
		}
	}
	return nil
}

type replicas struct {
	Spec struct {
		Replicas *int64 `json:"replicas"`
	} `json:"spec"`
	Status struct {
		ReadyReplicas          int64 `json:"readyReplicas"`
		DesiredNumberScheduled int64 `json:"desiredNumberScheduled"`
		NumberReady            int64 `json:"numberReady"`
	} `json:"status"`
}

// isMostlyDown reports whether at most half of the desired replicas are ready.
func (r *replicas) isMostlyDown() bool {
	desired, ready := r.Status.DesiredNumberScheduled, r.Status.ReadyReplicas+r.Status.NumberReady
	switch {
	case r.Spec.Replicas != nil:
		desired = *r.Spec.Replicas
	case desired == 0:
		desired = 1 // The default of spec.replicas.
	}
	return ready*2 <= desired
}

// workload explains a controller of pods by its pods, or by what prevents it from creating pods.
func workload(s *subject) *verdict.Verdict {
	owned := s.owned()
	active := owned[:0]
	for n := range owned {
		if owned[n].ID.Kind != podKind || !isEnded(&owned[n]) {
			active = append(active, owned[n])
		}
	}
	worst := s.worst(active)
	if worst == nil {
		return s.creationFailure()
	}
	severity := verdict.Degraded
	if r := neighbor.Decode[replicas](s.Object); r.isMostlyDown() && worst.Object.Verdict().Severity() == verdict.Failed {
		severity = verdict.Failed
	}
	return s.because(severity, worst, "")
}

func isEnded(n *neighbor.Neighbor) bool {
	if !n.Object.Verdict().Severity().IsProblem() {
		return false // Callers ignore pods without a problem, so the phase does not matter.
	}
	p := neighbor.Decode[corev1.Pod](n.Object)
	return p.Status.Phase == corev1.PodFailed
}

// job explains a Job by its failed pods.
func job(s *subject) *verdict.Verdict {
	if s.own.Severity == verdict.OK || s.own.Severity == verdict.None {
		return nil
	}
	pods := s.owned()
	if worst := s.worst(pods); worst != nil {
		severity := verdict.Degraded
		if s.own.Severity == verdict.Failed {
			return s.because(verdict.Failed, worst, s.own.Reason+": ")
		}
		if worst.Object.Verdict().Severity() == verdict.Failed && len(pods) > 0 && !isEnded(worst) {
			severity = verdict.Failed
		}
		return s.because(severity, worst, "")
	}
	return s.creationFailure()
}

// cronJob explains a CronJob by its newest Job.
func cronJob(s *subject) *verdict.Verdict {
	last := newest(s.owned())
	if last == nil || !s.hasProblem(last) {
		return s.creationFailure()
	}
	return s.because(last.Object.Verdict().Severity(), last, "Job "+last.ID.Name()+": ")
}
