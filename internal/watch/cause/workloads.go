package cause

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/placement"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// workload explains the problem of a pod controller: an object that it owns has a problem, or it cannot create pods.
func workload(s *subject.Subject) *verdict.Verdict {
	active := slices.DeleteFunc(s.OwnedObjects(), func(n neighbor.Neighbor) bool {
		return n.ID.Kind == graph.Kind{Kind: "Pod"} && isEnded(&n)
	})
	worst := s.Worst(active)
	if worst == nil {
		return mention.CreationFailure(s)
	}
	severity := verdict.Degraded
	if worst.Object.Verdict().Severity() == verdict.Failed && isMostlyDown(s.Object) {
		severity = verdict.Failed
	}
	prefix := ""
	if s.Own.Reason == "DeploymentPaused" { // A changed template, which possibly solves the problem, is not rolled out.
		prefix = subject.Sentences(s.Own.Sentence, "")
	}
	return placement.Preempted(s, worst, s.Inherit(worst, severity, prefix))
}

// isMostlyDown reports whether at most half of the desired replicas are ready.
func isMostlyDown(o neighbor.Object) bool {
	r := neighbor.Decode[struct {
		Spec struct {
			Replicas *int64 `json:"replicas"`
		} `json:"spec"`
		Status struct {
			ReadyReplicas          int64 `json:"readyReplicas"`
			DesiredNumberScheduled int64 `json:"desiredNumberScheduled"`
			NumberReady            int64 `json:"numberReady"`
		} `json:"status"`
	}](o)
	desired := cmp.Or(r.Status.DesiredNumberScheduled, 1) // Set for a DaemonSet; 1 is the default of spec.replicas.
	if r.Spec.Replicas != nil {
		desired = *r.Spec.Replicas
	}
	ready := r.Status.ReadyReplicas + r.Status.NumberReady
	return ready*2 <= desired
}

func isEnded(n *neighbor.Neighbor) bool {
	if !n.Object.Verdict().Severity().IsProblem() {
		return false // The callers ignore a pod without a problem, so do not decode it.
	}
	return neighbor.Decode[corev1.Pod](n.Object).Status.Phase == corev1.PodFailed
}

// job explains the problem of a Job by its failed pods, or by the queue that keeps it suspended.
func job(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return placement.QueuedJob(s)
	}
	if v := superseded(s); v != nil {
		return v
	}
	worst := s.Worst(s.OwnedObjects())
	switch {
	case worst == nil:
		return mention.CreationFailure(s)
	case s.Own.Severity == verdict.Failed:
		return s.Inherit(worst, verdict.Failed, s.Own.Reason+": ")
	case worst.Object.Verdict().Severity() == verdict.Failed && !isEnded(worst):
		return s.Inherit(worst, verdict.Failed, "")
	}
	return placement.Preempted(s, worst, s.Inherit(worst, verdict.Degraded, ""))
}

// cronJob explains the problem of a CronJob by its newest Job.
func cronJob(s *subject.Subject) *verdict.Verdict {
	jobs, isComplete := subject.OwnedBy(s, s.Object.UID(), subject.MaxOwned)
	if len(jobs) == 0 || !isComplete {
		return withoutJob(s)
	}
	newest := slices.MaxFunc(jobs, func(a, b neighbor.Neighbor) int {
		return cmp.Or(a.Object.Created().Compare(b.Object.Created()), cmp.Compare(a.ID.Key, b.ID.Key))
	})
	if !s.HasProblem(&newest) {
		if s.Own.Severity.IsProblem() && subject.IsComplete(&newest) { // A newer Job succeeded, for example a manual one.
			return subject.ReplacedBy(&newest, subject.Superseded, "succeeded after the last scheduled run")
		}
		return withoutJob(s)
	}
	return s.Inherit(&newest, newest.Object.Verdict().Severity(), newest.String()+": ")
}

// withoutJob explains a CronJob that has no Jobs, or whose newest Job is unknown or has no problem. Possibly its
// controller cannot create the next Job.
func withoutJob(s *subject.Subject) *verdict.Verdict {
	isSuspended := ptr.Deref(neighbor.Decode[batchv1.CronJob](s.Object).Spec.Suspend, false)
	if s.Own.Severity == verdict.OK && !isSuspended {
		return mention.RepeatedCreationFailure(s)
	}
	return mention.CreationFailure(s)
}
