package health

import (
	"fmt"
	"strings"
)

// pod returns the health of a Pod. It ignores the status from kstatus: for a pod that cannot be scheduled, that status
// depends on the time, and a failed pod has the status Current.
func pod(o node, _ Status) Health {
	all := containersOf(o)
	h := Health{Status: InProgress}
	var worst *container
	for i := range all {
		if all[i].broken() && worst == nil {
			worst = &all[i]
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
			Failed, "Failed: "+join(o.text("status", "reason"), o.text("status", "message")), nil
	case phase == "Unknown":
		h.Status, h.Summary, worst =
			Unknown, "Unknown: "+join(o.text("status", "reason"), o.text("status", "message")), nil
	case worst != nil:
		h.Status, h.Summary = Failed, capital(worst.sentence())
	case scheduled.is("False") && scheduled.reason == "SchedulingGated":
		h.Summary = "Not scheduled, waiting for scheduling gates: " + strings.Join(gates(o), ", ")
	case scheduled.is("False"):
		h.Status, h.Summary = Failed, scheduled.why()
	case o.text("spec", "nodeName") == "":
		h.Summary = "Waiting to be scheduled"
	default:
		h.Status, h.Summary = underway(all, ready)
	}
	for i := range all {
		if sentence := all[i].sentence(); sentence != "" && &all[i] != worst {
			h.Details = append(h.Details, capital(sentence))
		}
	}
	if c := o.condition("DisruptionTarget"); c.is("True") {
		h.Details = append(h.Details, "Disruption target: "+c.why())
	}
	return h
}

func gates(o node) (names []string) {
	for _, gate := range o.nodes("spec", "schedulingGates") {
		names = append(names, gate.text("name"))
	}
	return names
}

// underway returns the status and summary of a pod that is assigned to a node and has no problem.
func underway(all []container, ready condition) (Status, string) {
	var inits, finished, count, able int64
	for i := range all {
		switch c := &all[i]; {
		case c.role == initRole:
			inits++
			if c.done() {
				finished++
			}
		case c.role != ephemeralRole:
			count++
			if c.status.flag("ready") {
				able++
			}
		}
	}
	summary := fmt.Sprintf("%d/%d containers ready", able, count)
	switch {
	case ready.is("True"):
		return Current, summary
	case finished < inits:
		return InProgress, fmt.Sprintf("Initializing: %d of %d init containers finished", finished, inits)
	case able == count && count > 0:
		return InProgress, summary + ", but pod is not Ready: " + ready.why()
	}
	return InProgress, summary
}
