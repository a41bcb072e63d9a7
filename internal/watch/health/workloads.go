package health

import (
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
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

func deployment(o object, status Status) result {
	desired, ready := o.countOr(1, "spec", "replicas"), o.count("status", "readyReplicas")
	var reasons []string
	progressing := o.condition("Progressing")
	if progressing.is("False") {
		status = Failed
		reasons = append(reasons, "Rollout stalled: "+progressing.explanation())
	}
	status, reasons = checkReplicaFailure(o, status, reasons)
	if o.flag("spec", "paused") {
		if status == InProgress && ready >= desired {
			status = Current // Nothing happens until the Deployment is resumed.
		}
		reasons = append(reasons, "Paused: template changes are not rolled out")
	}
	if updated := o.count("status", "updatedReplicas"); updated < desired {
		reasons = append(reasons, ratioText(updated, desired, "replicas", "updated"))
	}
	if extra := o.count("status", "replicas") - desired; extra > 0 {
		reasons = append(reasons, surplus(extra))
	}
	if available := o.count("status", "availableReplicas"); available < ready {
		reasons = append(reasons, ratioText(available, ready, "ready replicas", "available (minReadySeconds passed)"))
	}
	r := readiness(status, ready, desired, "replicas", reasons)
	failure := o.condition("ReplicaFailure")
	switch {
	case failure.is("True"):
		r.reason = failure.reason
	case progressing.is("False"):
		r.reason = progressing.reason
	case status != InProgress:
	case progressing.reason == "NewReplicaSetAvailable" && ready < desired:
		// The rollout is complete, so the missing replicas were ready once, and no deadline applies.
		r.reason, r.severity = "MinimumReplicasUnavailable", verdict.Degraded
		if ready == 0 {
			r.severity = verdict.Failed
		}
	case progressing.is("True"):
		r.reason, r.promised = progressing.reason, 0 // The controller applies spec.progressDeadlineSeconds.
	}
	return r
}

func checkReplicaFailure(o object, status Status, reasons []string) (Status, []string) {
	if c := o.condition("ReplicaFailure"); c.is("True") {
		return Failed, append(reasons, podFailureText(c))
	}
	return status, reasons
}

// podFailureText explains the condition ReplicaFailure in the words of the admission plugin that rejected the pods.
func podFailureText(c condition) string {
	action := "Cannot create pods: "
	if c.reason == "FailedDelete" {
		action = "Cannot delete pods: "
	}
	if c.message == "" {
		return action + c.explanation()
	}
	return action + message.Admission(c.message)
}

// replicaSet returns the health of a ReplicaSet or ReplicationController. kstatus has no rules for the latter.
func replicaSet(o object, status Status) result {
	desired, ready := o.countOr(1, "spec", "replicas"), o.count("status", "readyReplicas")
	if status == Current && ready < desired {
		status = InProgress
	}
	status, reasons := checkReplicaFailure(o, status, nil)
	if extra := o.count("status", "replicas") - desired; extra > 0 {
		reasons = append(reasons, surplus(extra))
	}
	if available := o.count("status", "availableReplicas"); available < ready {
		reasons = append(reasons, ratioText(available, ready, "ready replicas", "available (minReadySeconds passed)"))
	}
	r := readiness(status, ready, desired, "replicas", reasons)
	if c := o.condition("ReplicaFailure"); c.is("True") {
		r.reason = c.reason
	}
	return r
}

// statefulSet returns InProgress while replicas are not ready. kstatus always reports Current for the update strategy
// OnDelete.
func statefulSet(o object, status Status) result {
	desired, ready := o.countOr(1, "spec", "replicas"), o.count("status", "readyReplicas")
	if status == Current && ready < desired {
		status = InProgress
	}
	var reasons []string
	partition := o.count("spec", "updateStrategy", "rollingUpdate", "partition")
	newest := o.text("status", "updateRevision")
	switch updated := o.count("status", "updatedReplicas"); {
	case newest == "" || newest == o.text("status", "currentRevision"):
	case o.text("spec", "updateStrategy", "type") == "OnDelete":
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
	if extra := o.count("status", "replicas") - desired; extra > 0 {
		reasons = append(reasons, surplus(extra))
	}
	return readiness(status, ready, desired, "replicas", reasons)
}

// daemonSet ignores outdated pods for the strategy OnDelete. kstatus waits for their update, which requires a manual
// deletion.
func daemonSet(o object, status Status) result {
	desired, ready := o.count("status", "desiredNumberScheduled"), o.count("status", "numberReady")
	isOnDelete := o.text("spec", "updateStrategy", "type") == "OnDelete"
	if isOnDelete && status == InProgress && min(ready, o.count("status", "numberAvailable")) >= desired &&
		o.has("status", "desiredNumberScheduled") {
		status = Current
	}
	var reasons []string
	if scheduled := o.count("status", "currentNumberScheduled"); scheduled < desired {
		reasons = append(reasons, ratioText(scheduled, desired, "nodes", "have a pod"))
	}
	switch updated := o.count("status", "updatedNumberScheduled"); {
	case updated < desired && isOnDelete:
		reasons = append(
			reasons, ratioText(updated, desired, "pods", "updated; others update when they are deleted"),
		)
	case updated < desired:
		reasons = append(reasons, ratioText(updated, desired, "pods", "updated"))
	}
	if available := o.count("status", "numberAvailable"); available < ready {
		reasons = append(reasons, ratioText(available, ready, "ready pods", "available (minReadySeconds passed)"))
	}
	if misscheduled := o.count("status", "numberMisscheduled"); misscheduled > 0 {
		reasons = append(reasons, fmt.Sprintf("Running on %s it should not (misscheduled)", counted(misscheduled, "node")))
	}
	return readiness(status, ready, desired, "pods", reasons)
}
