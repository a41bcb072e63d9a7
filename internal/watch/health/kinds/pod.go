package kinds

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/container"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// pod does not use the status of kstatus, which is Current for failed pods, and depends on time for unschedulable pods.
func pod(o object.Object, _ result.Status) result.Result {
	containers := container.Of(o)
	h := result.Result{Status: result.InProgress}
	var worst *container.Container
	for i := range containers {
		if containers[i].HasFailed() && worst == nil {
			worst = &containers[i]
		}
	}
	scheduled, ready := o.Condition("PodScheduled"), o.Condition("Ready")
	phase := o.Text("status", "phase")
	switch {
	case phase == "Succeeded":
		h.Status, h.Summary = result.Current, "Completed"
	case phase == "Failed" && worst != nil && o.Text("status", "reason") == "":
		h.Status, h.Summary, h.Reason = result.Failed, "Failed: "+worst.Sentence(), worst.Reason()
	case phase == "Failed" && o.Text("status", "reason") == "Evicted":
		h.Status, h.Reason, worst = result.Failed, "Evicted", nil
		h.Summary = "Failed: " + message.Join("Evicted", message.Eviction(o.Text("status", "message")))
	case phase == "Failed":
		h.Reason = cmp.Or(o.Text("status", "reason"), "Failed")
		h.Status, h.Summary, worst =
			result.Failed, "Failed: "+message.Join(o.Text("status", "reason"), o.Text("status", "message")), nil
	case phase == "Unknown":
		h.Reason = cmp.Or(o.Text("status", "reason"), "Unknown")
		h.Status, h.Summary, worst =
			result.Unknown, "Unknown: "+message.Join(o.Text("status", "reason"), o.Text("status", "message")), nil
	case worst != nil:
		h.Status, h.Summary, h.Reason = result.Failed, message.Capital(worst.Sentence()), worst.Reason()
		if text := worst.StopText(); text != "" {
			h.Details = append(h.Details, text)
		}
	case scheduled.Is("False") && scheduled.Reason == "SchedulingGated":
		h.Summary = "Not scheduled, waiting for scheduling gates: " + strings.Join(builtin.Gates(o), ", ")
		h.Reason = scheduled.Reason
		h.Progress(o.Created(), verdict.Degraded)
	case scheduled.Is("False"):
		setUnschedulable(&h, o, scheduled)
	case o.Text("spec", "nodeName") == "":
		h.Summary, h.Reason = "Waiting to be scheduled", "Pending"
		if name := o.Text("spec", "schedulerName"); name != "" && name != defaultScheduler {
			h.Summary = "Waiting for the scheduler " + name
		}
		h.Progress(o.Created(), verdict.Failed)
	default:
		setRunning(&h, containers, ready, o)
	}
	for i := range containers {
		if sentence := containers[i].Sentence(); sentence != "" && &containers[i] != worst {
			h.Details = append(h.Details, message.Capital(sentence))
		}
	}
	if c := o.Condition("DisruptionTarget"); c.Is("True") {
		h.Details = append(h.Details, "Disruption target: "+c.Explanation())
	}
	return h
}

// defaultScheduler is the name of Kubernetes' own scheduler.
const defaultScheduler = "default-scheduler"

// setUnschedulable sets the health of a pod that the scheduler rejected. The pod is not failed at once, because a
// cluster autoscaler or a pod that ends can make room.
func setUnschedulable(r *result.Result, o object.Object, scheduled object.Condition) {
	r.Reason = scheduled.Reason
	r.Summary = scheduled.Explanation()
	if short := message.Unschedulable(scheduled.Message); short != "" {
		r.Summary, r.Details = short, append(r.Details, "Scheduler: "+scheduled.Message)
	}
	r.Progress(cmp.Or(scheduled.ChangedAt, o.Created()), verdict.Failed)
}

// setRunning sets the health of a pod that is on a node and has no failed container.
func setRunning(r *result.Result, all []container.Container, ready object.Condition, o object.Object) {
	var startedAt time.Time // The start of the newest container that is not ready.
	creating := true
	probes := ""       // Why the first running container is not ready.
	initializing := "" // A text with the name of the first running init container.
	var initCount, finished, total, readyCount int64
	for i := range all {
		switch c := &all[i]; {
		case c.Role == container.Init:
			initCount++
			if c.HasSucceeded() {
				finished++
			} else if initializing == "" && c.IsRunning() {
				initializing = ", " + c.Name + " is running"
			}
		case c.Role != container.Ephemeral:
			total++
			run, isRunning := c.State("running")
			creating = creating && !isRunning
			if c.Status.Flag("ready") {
				readyCount++
			} else {
				probes = cmp.Or(probes, c.ProbeText())
				startedAt = latest(startedAt, run.Time("startedAt"))
			}
		}
	}
	summary := fmt.Sprintf("%d/%d containers ready", readyCount, total)
	r.Status, r.Summary, r.Reason = result.InProgress, summary, "NotReady"
	r.Progress(ready.ChangedAt, verdict.Failed)
	switch {
	case ready.Is("True"):
		r.Status, r.Reason, r.Promised = result.Current, "", 0
		r.Restarts, r.RestartsUntil = container.Restarts(all, o.Created(), result.SettleTime)
		if s, ok := symptom.Resize(o); ok { // A pending resize is a problem only later: another pod can end and make room.
			r.StartedAt, r.Promised, r.Overdue = s.Since, result.SettleTime, verdict.Degraded
			r.OverdueReason, r.OverdueSummary = s.Reason, s.Sentence
		}
	case finished < initCount:
		r.Summary = fmt.Sprintf("Initializing: %d of %d init containers finished%s", finished, initCount, initializing)
		r.Reason, r.Overdue = "PodInitializing", verdict.Degraded
	case readyCount == total && total > 0:
		why := ready.Explanation()
		if ready.Reason == "" && ready.Message == "" {
			// If a node does not report, the node controller changes only the status of Ready. It sets no reason.
			why = "node " + o.Text("spec", "nodeName") + " is probably not reporting"
		}
		r.Summary += ", but pod is not Ready: " + why
		r.Reason = cmp.Or(ready.Reason, "NotReady")
		r.Progress(ready.ChangedAt, verdict.Degraded)
	case creating:
		r.Reason = "ContainerCreating"
	default:
		setUnready(r, all, startedAt, probes, o.Text("spec", "restartPolicy"))
	}
}

// setUnready sets when a pod with an unready container is overdue, and why. If the container started a long time ago,
// the pod is overdue at once.
func setUnready(r *result.Result, all []container.Container, startedAt time.Time, probes, restartPolicy string) {
	runsOn, completedAt := container.RunsOn(all)
	if runsOn != "" && (restartPolicy == "Never" || restartPolicy == "OnFailure") {
		r.Progress(latest(startedAt, completedAt), verdict.Degraded)
		r.OverdueReason, r.OverdueSummary = "NotCompleted", runsOn
		return
	}
	r.Progress(startedAt, verdict.Degraded)
	// A starting pod changes often, so its normal sentence is short. Only the overdue sentence names the probes.
	if probes != "" {
		r.OverdueReason, r.OverdueSummary = r.Reason, r.Summary+": "+probes
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
