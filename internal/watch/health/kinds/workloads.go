package kinds

import (
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	unsettled = "(the others have not been ready for minReadySeconds)"
	onDelete  = "; the others are updated only when they are deleted (OnDelete)"
	paused    = "Paused: template changes are not rolled out"
)

// reasons are the details of a workload's health.
type reasons []string

// add appends a detail if the condition is true.
func (r *reasons) add(condition bool, format string, arguments ...any) {
	if condition {
		*r = append(*r, fmt.Sprintf(format, arguments...))
	}
}

// addReplicas adds details about extra replicas (more than desired), and ready replicas that are not available yet.
func (r *reasons) addReplicas(o object.Object, desired, ready int64) {
	extra, available := o.Count("status", "replicas")-desired, o.Count("status", "availableReplicas")
	r.add(extra > 0, "%s pending termination", counted(extra, "extra replica"))
	r.add(available < ready, "%d of %d ready replicas available "+unsettled, available, ready)
}

// addFailure adds the reason and returns Failed if the condition ReplicaFailure is True. Otherwise, it returns status.
func (r *reasons) addFailure(failure object.Condition, status result.Status) result.Status {
	if !failure.Is("True") {
		return status
	}
	r.add(true, "%s", builtin.PodFailure(failure))
	return result.Failed
}

// readiness returns a workload's health. If the numbers do not explain the status, the summary includes the first of
// the details.
func readiness(status result.Status, ready, desired int64, noun string, details reasons) result.Result {
	h := result.Result{Status: status, Summary: ratioText(ready, desired, noun, "ready"), Details: details}
	if desired == 0 && ready == 0 {
		h.Summary = fmt.Sprintf("No %s desired", noun)
	}
	if status == result.InProgress {
		h.Reason = "Progressing"
		overdue := verdict.Degraded
		if ready == 0 && desired > 0 {
			overdue = verdict.Failed
		}
		h.Progress(time.Time{}, overdue)
	}
	if len(details) > 0 && (status == result.Failed || status == result.InProgress && ready >= desired) {
		h.Summary += ". " + details[0]
		h.Details = details[1:]
	}
	return h
}

func deployment(o object.Object, status result.Status) result.Result {
	desired, ready := o.CountOr(1, "spec", "replicas"), o.Count("status", "readyReplicas")
	updated, isPaused := o.Count("status", "updatedReplicas"), o.Flag("spec", "paused")
	progressing, failure := o.Condition("Progressing"), o.Condition("ReplicaFailure")
	var details reasons
	if progressing.Is("False") {
		status = result.Failed
		details.add(true, "Rollout stalled: %s", progressing.Explanation())
	}
	status = details.addFailure(failure, status)
	isNew := o.Count("status", "replicas") == 0 && o.Has("status", "observedGeneration")
	if isPaused && status == result.InProgress && (ready >= desired || isNew) {
		status = result.Current // Nothing happens until the Deployment is resumed.
	}
	// Without updated replicas, the pods keep their previous template until the Deployment is resumed.
	isWaiting := isPaused && status != result.Current && updated == 0 && desired > 0 && !failure.Is("True")
	details.add(isPaused && !isWaiting, paused)
	details.add(updated < desired, "%d of %d replicas updated", updated, desired)
	details.addReplicas(o, desired, ready)
	r := readiness(status, ready, desired, "replicas", details)
	switch {
	case failure.Is("True"):
		r.Reason = failure.Reason
	case isWaiting:
		r.Reason, r.Summary = "DeploymentPaused", paused+". "+r.Summary
	case progressing.Is("False"):
		r.Reason = progressing.Reason
	case status != result.InProgress:
	case progressing.Reason == "NewReplicaSetAvailable" && ready < desired:
		// The rollout was completed, so all replicas were ready at that time. Its deadline does not apply to replicas that
		// became unready later.
		r.Reason, r.Severity = "MinimumReplicasUnavailable", verdict.Degraded
		if ready == 0 {
			r.Severity = verdict.Failed
		}
	case progressing.Is("True") && progressing.Reason == "NewReplicaSetAvailable":
		r.Reason = progressing.Reason
		r.Promised += o.Seconds("spec", "minReadySeconds")
	case progressing.Is("True"):
		r.Reason = progressing.Reason
		limitRollout(&r, o, progressing)
	}
	return r
}

// limitRollout makes a rollout overdue if its deadline has passed, but its controller has not reported this.
func limitRollout(r *result.Result, o object.Object, progressing object.Condition) {
	deadline := o.Seconds("spec", "progressDeadlineSeconds")
	if deadline == 0 {
		deadline = result.SettleTime // The default of the API server.
	}
	r.StartedAt, r.Promised = progressing.UpdatedAt, deadline+reportTime
	r.OverdueReason = "ProgressDeadlineExceeded"
	r.OverdueSummary = fmt.Sprintf(
		"%s. The progress deadline of %s was exceeded, but no controller has reported this: %s might not be running",
		r.Summary, deadline, result.ControllerManager,
	)
}

// replicaSet returns the health of a ReplicaSet or ReplicationController. kstatus has no rules for
// ReplicationControllers.
func replicaSet(o object.Object, status result.Status) result.Result {
	desired, ready := o.CountOr(1, "spec", "replicas"), o.Count("status", "readyReplicas")
	if status == result.Current && ready < desired {
		status = result.InProgress
	}
	var details reasons
	failure := o.Condition("ReplicaFailure")
	status = details.addFailure(failure, status)
	details.addReplicas(o, desired, ready)
	r := readiness(status, ready, desired, "replicas", details)
	if failure.Is("True") {
		r.Reason = failure.Reason
	}
	return r
}

// statefulSet returns InProgress while replicas are not ready, even for the update strategy OnDelete, for which kstatus
// always reports Current.
func statefulSet(o object.Object, status result.Status) result.Result {
	desired, ready := o.CountOr(1, "spec", "replicas"), o.Count("status", "readyReplicas")
	if status == result.Current && ready < desired {
		status = result.InProgress
	}
	var details reasons
	partition := o.Count("spec", "updateStrategy", "rollingUpdate", "partition")
	newest := o.Text("status", "updateRevision")
	switch updated := o.Count("status", "updatedReplicas"); {
	case newest == "" || newest == o.Text("status", "currentRevision"):
	case o.Text("spec", "updateStrategy", "type") == "OnDelete":
		details.add(updated < desired, "%d of %d replicas updated"+onDelete, updated, desired)
	case partition > 0:
		details.add(true, "%d of %d replicas updated; ordinals below %d are not updated (partition)",
			updated, desired, partition)
	default:
		details.add(updated < desired, "%d of %d replicas updated", updated, desired)
	}
	extra := o.Count("status", "replicas") - desired
	details.add(extra > 0, "%s pending termination", counted(extra, "extra replica"))
	return readiness(status, ready, desired, "replicas", details)
}

// daemonSet ignores outdated pods for the strategy OnDelete. kstatus waits for their update, which requires a manual
// deletion.
func daemonSet(o object.Object, status result.Status) result.Result {
	desired, ready := o.Count("status", "desiredNumberScheduled"), o.Count("status", "numberReady")
	isOnDelete := o.Text("spec", "updateStrategy", "type") == "OnDelete"
	if isOnDelete && status == result.InProgress && min(ready, o.Count("status", "numberAvailable")) >= desired &&
		o.Has("status", "desiredNumberScheduled") {
		status = result.Current
	}
	scheduled, misscheduled := o.Count("status", "currentNumberScheduled"), o.Count("status", "numberMisscheduled")
	updated, available := o.Count("status", "updatedNumberScheduled"), o.Count("status", "numberAvailable")
	others := ""
	if isOnDelete {
		others = onDelete
	}
	var details reasons
	details.add(scheduled < desired, "%d of %d nodes have a pod", scheduled, desired)
	details.add(updated < desired, "%d of %d pods updated%s", updated, desired, others)
	details.add(available < ready, "%d of %d ready pods available "+unsettled, available, ready)
	details.add(misscheduled > 0, "Running on %s where it should not run (misscheduled)", counted(misscheduled, "node"))
	return readiness(status, ready, desired, "pods", details)
}
