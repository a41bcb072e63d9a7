package health

import "fmt"

// readiness returns the health of a workload from its numbers of ready and desired replicas. If these do not explain
// the status, the summary also contains the first of the reasons.
func readiness(verdict Status, ready, want int64, things string, reasons []string) Health {
	h := Health{Status: verdict, Summary: share(ready, want, things, "ready"), Details: reasons}
	if want == 0 && ready == 0 {
		h.Summary = fmt.Sprintf("No %s desired", things)
	}
	if len(reasons) > 0 && (verdict == Failed || verdict == InProgress && ready >= want) {
		h.Summary += ". " + reasons[0]
		h.Details = reasons[1:]
	}
	return h
}

func deployment(o node, verdict Status) Health {
	want, ready := o.countOr(1, "spec", "replicas"), o.count("status", "readyReplicas")
	var reasons []string
	if c := o.condition("Progressing"); c.is("False") {
		verdict = Failed
		reasons = append(reasons, "Rollout stalled: "+c.why())
	}
	verdict, reasons = unmade(o, verdict, reasons)
	if o.flag("spec", "paused") {
		reasons = append(reasons, "Paused: template changes are not rolled out")
	}
	if updated := o.count("status", "updatedReplicas"); updated < want {
		reasons = append(reasons, share(updated, want, "replicas", "updated"))
	}
	if extra := o.count("status", "replicas") - want; extra > 0 {
		reasons = append(reasons, surplus(extra))
	}
	if available := o.count("status", "availableReplicas"); available < ready {
		reasons = append(reasons, share(available, ready, "ready replicas", "available (minReadySeconds passed)"))
	}
	return readiness(verdict, ready, want, "replicas", reasons)
}

// unmade returns Failed, and an additional reason, if pods of the workload cannot be created. Otherwise it returns its
// arguments.
func unmade(o node, verdict Status, reasons []string) (Status, []string) {
	if c := o.condition("ReplicaFailure"); c.is("True") {
		return Failed, append(reasons, "Cannot create pods: "+c.why())
	}
	return verdict, reasons
}

// replicaSet returns the health of a ReplicaSet or a ReplicationController. kstatus has no rules for the latter.
func replicaSet(o node, verdict Status) Health {
	want, ready := o.countOr(1, "spec", "replicas"), o.count("status", "readyReplicas")
	if verdict == Current && ready < want {
		verdict = InProgress
	}
	verdict, reasons := unmade(o, verdict, nil)
	if extra := o.count("status", "replicas") - want; extra > 0 {
		reasons = append(reasons, surplus(extra))
	}
	if available := o.count("status", "availableReplicas"); available < ready {
		reasons = append(reasons, share(available, ready, "ready replicas", "available (minReadySeconds passed)"))
	}
	return readiness(verdict, ready, want, "replicas", reasons)
}

// statefulSet returns the health of a StatefulSet. It is InProgress while replicas are missing; with the OnDelete
// strategy, kstatus always reports Current.
func statefulSet(o node, verdict Status) Health {
	want, ready := o.countOr(1, "spec", "replicas"), o.count("status", "readyReplicas")
	if verdict == Current && ready < want {
		verdict = InProgress
	}
	var reasons []string
	held := o.count("spec", "updateStrategy", "rollingUpdate", "partition")
	newest := o.text("status", "updateRevision")
	switch updated := o.count("status", "updatedReplicas"); {
	case newest == "" || newest == o.text("status", "currentRevision"):
	case o.text("spec", "updateStrategy", "type") == "OnDelete":
		reasons = append(
			reasons,
			share(updated, want, "replicas", "updated; others update when they are deleted"),
		)
	case held > 0:
		reasons = append(
			reasons,
			share(updated, want, "replicas", fmt.Sprintf("updated; ordinals below %d are held back (partition)", held)),
		)
	case updated < want:
		reasons = append(reasons, share(updated, want, "replicas", "updated"))
	}
	if extra := o.count("status", "replicas") - want; extra > 0 {
		reasons = append(reasons, surplus(extra))
	}
	return readiness(verdict, ready, want, "replicas", reasons)
}

// daemonSet returns the health of a DaemonSet. With the OnDelete strategy, it is Current if all pods are ready and
// available: pods are then updated only when they are deleted, and kstatus would wait for the update.
func daemonSet(o node, verdict Status) Health {
	want, ready := o.count("status", "desiredNumberScheduled"), o.count("status", "numberReady")
	waits := o.text("spec", "updateStrategy", "type") == "OnDelete"
	if waits && verdict == InProgress && min(ready, o.count("status", "numberAvailable")) >= want &&
		o.has("status", "desiredNumberScheduled") {
		verdict = Current
	}
	var reasons []string
	if scheduled := o.count("status", "currentNumberScheduled"); scheduled < want {
		reasons = append(reasons, share(scheduled, want, "nodes", "have a pod"))
	}
	switch updated := o.count("status", "updatedNumberScheduled"); {
	case updated < want && waits:
		reasons = append(
			reasons, share(updated, want, "pods", "updated; others update when they are deleted"),
		)
	case updated < want:
		reasons = append(reasons, share(updated, want, "pods", "updated"))
	}
	if available := o.count("status", "numberAvailable"); available < ready {
		reasons = append(reasons, share(available, ready, "ready pods", "available (minReadySeconds passed)"))
	}
	if stray := o.count("status", "numberMisscheduled"); stray > 0 {
		reasons = append(reasons, fmt.Sprintf("Running on %s it should not (misscheduled)", counted(stray, "node")))
	}
	return readiness(verdict, ready, want, "pods", reasons)
}
