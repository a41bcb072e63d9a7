package health

import "fmt"

// readiness returns a workload's health. If the numbers do not explain the status, the summary includes the first
// reason.
func readiness(status Status, ready, desired int64, noun string, reasons []string) Health {
	h := Health{Status: status, Summary: ratioText(ready, desired, noun, "ready"), Details: reasons}
	if desired == 0 && ready == 0 {
		h.Summary = fmt.Sprintf("No %s desired", noun)
	}
	if len(reasons) > 0 && (status == Failed || status == InProgress && ready >= desired) {
		h.Summary += ". " + reasons[0]
		h.Details = reasons[1:]
	}
	return h
}

func deployment(o node, status Status) Health {
	desired, ready := o.countOr(1, "spec", "replicas"), o.count("status", "readyReplicas")
	var reasons []string
	if c := o.condition("Progressing"); c.is("False") {
		status = Failed
		reasons = append(reasons, "Rollout stalled: "+c.explanation())
	}
	status, reasons = checkReplicaFailure(o, status, reasons)
	if o.flag("spec", "paused") {
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
	return readiness(status, ready, desired, "replicas", reasons)
}

func checkReplicaFailure(o node, status Status, reasons []string) (Status, []string) {
	if c := o.condition("ReplicaFailure"); c.is("True") {
		return Failed, append(reasons, "Cannot create pods: "+c.explanation())
	}
	return status, reasons
}

// replicaSet returns the health of a ReplicaSet or ReplicationController. kstatus has no rules for the latter.
func replicaSet(o node, status Status) Health {
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
	return readiness(status, ready, desired, "replicas", reasons)
}

// statefulSet returns InProgress while replicas are not ready. kstatus always reports Current for the update strategy
// OnDelete.
func statefulSet(o node, status Status) Health {
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
func daemonSet(o node, status Status) Health {
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
