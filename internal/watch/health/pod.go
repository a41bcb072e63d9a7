package health

import (
	"fmt"
	"strings"
)

// pod ignores the status from kstatus, which is Current for failed pods, and depends on time for unschedulable pods.
func pod(o node, _ Status) Health {
	containers := containersOf(o)
	h := Health{Status: InProgress}
	var worst *container
	for i := range containers {
		if containers[i].hasFailed() && worst == nil {
			worst = &containers[i]
		}
	}
	scheduled, ready := o.condition("PodScheduled"), o.condition("Ready")
	phase := o.text("status", "phase")
	switch {
	case phase == "Succeeded":
		h.Status, h.Summary = Current, "Completed"
	case phase == "Failed" && worst != nil && o.text("status", "reason") == "":
		h.Status, h.Summary = Failed, "Failed: "+worst.sentence()
	case phase == "Failed":
		h.Status, h.Summary, worst =
			Failed, "Failed: "+joinReason(o.text("status", "reason"), o.text("status", "message")), nil
	case phase == "Unknown":
		h.Status, h.Summary, worst =
			Unknown, "Unknown: "+joinReason(o.text("status", "reason"), o.text("status", "message")), nil
	case worst != nil:
		h.Status, h.Summary = Failed, capital(worst.sentence())
	case scheduled.is("False") && scheduled.reason == "SchedulingGated":
		h.Summary = "Not scheduled, waiting for scheduling gates: " + strings.Join(gates(o), ", ")
	case scheduled.is("False"):
		h.Status, h.Summary = Failed, scheduled.explanation()
	case o.text("spec", "nodeName") == "":
		h.Summary = "Waiting to be scheduled"
	default:
		h.Status, h.Summary = runningStatus(containers, ready)
	}
	for i := range containers {
		if sentence := containers[i].sentence(); sentence != "" && &containers[i] != worst {
			h.Details = append(h.Details, capital(sentence))
		}
	}
	if c := o.condition("DisruptionTarget"); c.is("True") {
		h.Details = append(h.Details, "Disruption target: "+c.explanation())
	}
	return h
}

func gates(o node) (names []string) {
	for _, gate := range o.nodes("spec", "schedulingGates") {
		names = append(names, gate.text("name"))
	}
	return names
}

func runningStatus(all []container, ready condition) (Status, string) {
	var initCount, finished, total, readyCount int64
	for i := range all {
		switch c := &all[i]; {
		case c.role == initRole:
			initCount++
			if c.hasSucceeded() {
				finished++
			}
		case c.role != ephemeralRole:
			total++
			if c.status.flag("ready") {
				readyCount++
			}
		}
	}
	summary := fmt.Sprintf("%d/%d containers ready", readyCount, total)
	switch {
	case ready.is("True"):
		return Current, summary
	case finished < initCount:
		return InProgress, fmt.Sprintf("Initializing: %d of %d init containers finished", finished, initCount)
	case readyCount == total && total > 0:
		return InProgress, summary + ", but pod is not Ready: " + ready.explanation()
	}
	return InProgress, summary
}
