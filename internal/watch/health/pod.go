package health

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/ready"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// pod ignores the status from kstatus, which is Current for failed pods, and depends on time for unschedulable pods.
func pod(o object, _ Status) result {
	containers := containersOf(o)
	h := result{Health: Health{Status: InProgress}}
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
		h.Status, h.Summary, h.reason = Failed, "Failed: "+worst.sentence(), worst.reason()
	case phase == "Failed" && o.text("status", "reason") == "Evicted":
		h.Status, h.reason, worst = Failed, "Evicted", nil
		h.Summary = "Failed: " + message.Join("Evicted", message.Eviction(o.text("status", "message")))
	case phase == "Failed":
		h.reason = cmp.Or(o.text("status", "reason"), "Failed")
		h.Status, h.Summary, worst =
			Failed, "Failed: "+message.Join(o.text("status", "reason"), o.text("status", "message")), nil
	case phase == "Unknown":
		h.reason = cmp.Or(o.text("status", "reason"), "Unknown")
		h.Status, h.Summary, worst =
			Unknown, "Unknown: "+message.Join(o.text("status", "reason"), o.text("status", "message")), nil
	case worst != nil:
		h.Status, h.Summary, h.reason = Failed, message.Capital(worst.sentence()), worst.reason()
	case scheduled.is("False") && scheduled.reason == "SchedulingGated":
		h.Summary = "Not scheduled, waiting for scheduling gates: " + strings.Join(gates(o), ", ")
		h.reason = scheduled.reason
		h.progress(o.time("metadata", "creationTimestamp"), verdict.Degraded)
	case scheduled.is("False"):
		h.setUnschedulable(o, scheduled)
	case o.text("spec", "nodeName") == "":
		h.Summary, h.reason = "Waiting to be scheduled", "Pending"
		if name := o.text("spec", "schedulerName"); name != "" && name != defaultScheduler {
			h.Summary = "Waiting for the scheduler " + name
		}
		h.progress(o.time("metadata", "creationTimestamp"), verdict.Failed)
	default:
		h.setRunning(containers, ready, o.text("spec", "nodeName"))
	}
	for i := range containers {
		if sentence := containers[i].sentence(); sentence != "" && &containers[i] != worst {
			h.Details = append(h.Details, message.Capital(sentence))
		}
	}
	if c := o.condition("DisruptionTarget"); c.is("True") {
		h.Details = append(h.Details, "Disruption target: "+c.explanation())
	}
	return h
}

// defaultScheduler is the name of Kubernetes' own scheduler.
const defaultScheduler = "default-scheduler"

// setUnschedulable sets the health of a pod that the scheduler rejected. The pod is not failed at once, because a
// cluster autoscaler or a pod that ends can make room.
func (r *result) setUnschedulable(o object, scheduled condition) {
	r.reason = scheduled.reason
	r.Summary = scheduled.explanation()
	if short := message.Unschedulable(scheduled.message); short != "" {
		r.Summary, r.Details = short, append(r.Details, "Scheduler: "+scheduled.message)
	}
	start := scheduled.changedAt
	if start.IsZero() {
		start = o.time("metadata", "creationTimestamp")
	}
	r.progress(start, verdict.Failed)
}

func gates(o object) (names []string) {
	for _, gate := range o.children("spec", "schedulingGates") {
		names = append(names, gate.text("name"))
	}
	return names
}

// setRunning sets the health of a pod on a node, none of whose containers has failed.
func (r *result) setRunning(all []container, ready condition, node string) {
	var startedAt time.Time // When the newest container that is not ready started.
	creating := true
	probes := ""       // Why the first container that runs is not ready.
	initializing := "" // Names the first init container that runs.
	var initCount, finished, total, readyCount int64
	for i := range all {
		switch c := &all[i]; {
		case c.role == initRole:
			initCount++
			if c.hasSucceeded() {
				finished++
			} else if initializing == "" && c.isRunning() {
				initializing = ", " + c.name + " is running"
			}
		case c.role != ephemeralRole:
			total++
			run, isRunning := c.state("running")
			creating = creating && !isRunning
			if c.status.flag("ready") {
				readyCount++
			} else {
				probes = cmp.Or(probes, c.probeText())
				startedAt = latest(startedAt, run.time("startedAt"))
			}
		}
	}
	summary := fmt.Sprintf("%d/%d containers ready", readyCount, total)
	r.Status, r.Summary, r.reason = InProgress, summary, "NotReady"
	r.progress(ready.changedAt, verdict.Failed)
	switch {
	case ready.is("True"):
		r.Status, r.reason, r.promised = Current, "", 0
		r.setRestarts(all)
	case finished < initCount:
		r.Summary = fmt.Sprintf("Initializing: %d of %d init containers finished%s", finished, initCount, initializing)
		r.reason, r.overdue = "PodInitializing", verdict.Degraded
	case readyCount == total && total > 0:
		why := ready.explanation()
		if ready.reason == "" && ready.message == "" {
			why = "node " + node + " is probably not reporting" // The node controller changes only the status.
		}
		r.Summary += ", but pod is not Ready: " + why
		r.reason = cmp.Or(ready.reason, "NotReady")
		r.progress(ready.changedAt, verdict.Degraded)
	case creating:
		r.reason = "ContainerCreating"
	default:
		// A container that has run for a long time, and is not ready any more, is not starting.
		r.progress(startedAt, verdict.Degraded)
		if probes != "" { // A pod that starts changes often, so its sentence stays short.
			r.overdueReason, r.overdueSummary = r.reason, r.Summary+": "+probes
		}
	}
}

// manyRestarts is the number of restarts from which a container that runs again for less than settleTime is degraded.
const manyRestarts = ready.ManyRestarts

// setRestarts degrades a ready pod whose container restarts again and again, until it has run for settleTime.
func (r *result) setRestarts(all []container) {
	for i := range all {
		c := &all[i]
		run, isRunning := c.state("running")
		last := c.status.child("lastState", "terminated")
		startedAt := run.time("startedAt")
		if !isRunning || c.status.count("restartCount") < manyRestarts || last == nil || startedAt.IsZero() ||
			last.count("exitCode") == 0 {
			continue
		}
		r.restartsUntil = latest(r.restartsUntil, startedAt.Add(settleTime))
		r.restarts = fmt.Sprintf("%s %s: restarted %s, last %s", c.role, c.name,
			counted(c.status.count("restartCount"), "time"), exitText(last))
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
