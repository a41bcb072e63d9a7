package health

import (
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// readiness returns a workload's health. If the numbers do not explain the status, the summary includes the first
// reason.
func readiness(status Status, ready, desired int64, noun string, reasons []string) result {
	h := result{Health: Health{Status: status, Summary: ratioText(ready, desired, noun, "ready"), Details: reasons}}
	if desired == 0 && ready == 0 {
		h.Summary = fmt.Sprintf("No %s desired", noun)
	}
	if status == InProgress {
		h.reason = "Progressing"
		overdue := verdict.Degraded
		if ready == 0 && desired > 0 {
			overdue = verdict.Failed
		}
		h.progress(time.Time{}, overdue)
	}
	if len(reasons) > 0 && (status == Failed || status == InProgress && ready >= desired) {
		h.Summary += ". " + reasons[0]
		h.Details = reasons[1:]
	}
	return h
}

func deployment(o object.Object, status Status) result {
	desired, ready := o.CountOr(1, "spec", "replicas"), o.Count("status", "readyReplicas")
	var reasons []string
	progressing := o.Condition("Progressing")
	if progressing.Is("False") {
		status = Failed
		reasons = append(reasons, "Rollout stalled: "+progressing.Explanation())
	}
	status, reasons = checkReplicaFailure(o, status, reasons)
	if o.Flag("spec", "paused") {
		if status == InProgress && ready >= desired {
			status = Current // Nothing happens until the Deployment is resumed.
		}
		reasons = append(reasons, "Paused: template changes are not rolled out")
	}
	if updated := o.Count("status", "updatedReplicas"); updated < desired {
		reasons = append(reasons, ratioText(updated, desired, "replicas", "updated"))
	}
	if extra := o.Count("status", "replicas") - desired; extra > 0 {
		reasons = append(reasons, surplus(extra))
	}
	if available := o.Count("status", "availableReplicas"); available < ready {
		reasons = append(reasons, ratioText(available, ready, "ready replicas", "available (minReadySeconds passed)"))
	}
	r := readiness(status, ready, desired, "replicas", reasons)
	failure := o.Condition("ReplicaFailure")
	switch {
	case failure.Is("True"):
		r.reason = failure.Reason
	case progressing.Is("False"):
		r.reason = progressing.Reason
	case status != InProgress:
	case progressing.Reason == "NewReplicaSetAvailable" && ready < desired:
		// The rollout is complete. Therefore, the missing replicas were ready once, and the deadline of the rollout
		// does not apply.
		r.reason, r.severity = "MinimumReplicasUnavailable", verdict.Degraded
		if ready == 0 {
			r.severity = verdict.Failed
		}
	case progressing.Is("True"):
		r.reason, r.promised = progressing.Reason, 0 // The controller checks spec.progressDeadlineSeconds.
	}
	return r
}

func checkReplicaFailure(o object.Object, status Status, reasons []string) (Status, []string) {
	if c := o.Condition("ReplicaFailure"); c.Is("True") {
		return Failed, append(reasons, podFailureText(c))
	}
	return status, reasons
}

// podFailureText explains the condition ReplicaFailure in the words of the admission plugin that rejected the pods.
func podFailureText(c object.Condition) string {
	action := "Cannot create pods: "
	if c.Reason == "FailedDelete" {
		action = "Cannot delete pods: "
	}
	if c.Message == "" {
		return action + c.Explanation()
	}
	return action + message.Admission(c.Message)
}

// replicaSet returns the health of a ReplicaSet or ReplicationController. kstatus has no rules for the latter.
func replicaSet(o object.Object, status Status) result {
	desired, ready := o.CountOr(1, "spec", "replicas"), o.Count("status", "readyReplicas")
	if status == Current && ready < desired {
		status = InProgress
	}
	status, reasons := checkReplicaFailure(o, status, nil)
	if extra := o.Count("status", "replicas") - desired; extra > 0 {
		reasons = append(reasons, surplus(extra))
	}
	if available := o.Count("status", "availableReplicas"); available < ready {
		reasons = append(reasons, ratioText(available, ready, "ready replicas", "available (minReadySeconds passed)"))
	}
	r := readiness(status, ready, desired, "replicas", reasons)
	if c := o.Condition("ReplicaFailure"); c.Is("True") {
		r.reason = c.Reason
	}
	return r
}

// statefulSet returns InProgress while replicas are not ready. kstatus always reports Current for the update strategy
// OnDelete.
func statefulSet(o object.Object, status Status) result {
	desired, ready := o.CountOr(1, "spec", "replicas"), o.Count("status", "readyReplicas")
	if status == Current && ready < desired {
		status = InProgress
	}
	var reasons []string
	partition := o.Count("spec", "updateStrategy", "rollingUpdate", "partition")
	newest := o.Text("status", "updateRevision")
	switch updated := o.Count("status", "updatedReplicas"); {
	case newest == "" || newest == o.Text("status", "currentRevision"):
	case o.Text("spec", "updateStrategy", "type") == "OnDelete":
		reasons = append(
			reasons,
			ratioText(updated, desired, "replicas", "updated; others update when they are deleted"),
		)
	case partition > 0:
		reasons = append(
			reasons,
			ratioText(
				updated, desired, "replicas", fmt.Sprintf("updated; ordinals below %d are not updated (partition)", partition),
			),
		)
	case updated < desired:
		reasons = append(reasons, ratioText(updated, desired, "replicas", "updated"))
	}
	if extra := o.Count("status", "replicas") - desired; extra > 0 {
		reasons = append(reasons, surplus(extra))
	}
	return readiness(status, ready, desired, "replicas", reasons)
}

// daemonSet ignores outdated pods for the strategy OnDelete. kstatus waits for their update, which requires a manual
// deletion.
func daemonSet(o object.Object, status Status) result {
	desired, ready := o.Count("status", "desiredNumberScheduled"), o.Count("status", "numberReady")
	isOnDelete := o.Text("spec", "updateStrategy", "type") == "OnDelete"
	if isOnDelete && status == InProgress && min(ready, o.Count("status", "numberAvailable")) >= desired &&
		o.Has("status", "desiredNumberScheduled") {
		status = Current
	}
	var reasons []string
	if scheduled := o.Count("status", "currentNumberScheduled"); scheduled < desired {
		reasons = append(reasons, ratioText(scheduled, desired, "nodes", "have a pod"))
	}
	switch updated := o.Count("status", "updatedNumberScheduled"); {
	case updated < desired && isOnDelete:
		reasons = append(
			reasons, ratioText(updated, desired, "pods", "updated; others update when they are deleted"),
		)
	case updated < desired:
		reasons = append(reasons, ratioText(updated, desired, "pods", "updated"))
	}
	if available := o.Count("status", "numberAvailable"); available < ready {
		reasons = append(reasons, ratioText(available, ready, "ready pods", "available (minReadySeconds passed)"))
	}
	if misscheduled := o.Count("status", "numberMisscheduled"); misscheduled > 0 {
		reasons = append(reasons, fmt.Sprintf("Running on %s it should not (misscheduled)", counted(misscheduled, "node")))
	}
	return readiness(status, ready, desired, "pods", reasons)
}
