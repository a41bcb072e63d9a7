package kinds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// limitTolerance is the time after which an autoscaler at its maximum is a problem, as in the alert KubeHpaMaxedOut of
// kubernetes-mixin.
const limitTolerance = 15 * time.Minute

// mismatchTolerance is the time after which an autoscaler that has not set the desired replicas is overdue, as in the
// alert KubeHpaReplicasMismatch of kubernetes-mixin. The controller sets them every 15 seconds.
const mismatchTolerance = 15 * time.Minute

// horizontalPodAutoscaler returns Failed if the autoscaler cannot scale or read its metrics. kstatus has no rules for
// this kind.
func horizontalPodAutoscaler(o object.Object, _ result.Status) result.Result {
	current, desired := o.Count("status", "currentReplicas"), o.Count("status", "desiredReplicas")
	least, most := o.CountOr(1, "spec", "minReplicas"), o.Count("spec", "maxReplicas")
	h := result.Result{Status: result.Current, Summary: fmt.Sprintf(
		"%s (min %d, max %d)", counted(current, "replica"), least, most,
	)}
	able, active, limited := o.Condition("AbleToScale"), o.Condition("ScalingActive"), o.Condition("ScalingLimited")
	if desired != current && active.Is("True") { // without metrics, desiredReplicas is not known
		h.Status, h.Reason = result.InProgress, "Scaling"
		h.Details = append(h.Details, counted(desired, "replica")+" desired")
	}
	override := func(status result.Status, reason, summary string) {
		h.Details = append([]string{h.Summary}, h.Details...)
		h.Status, h.Reason, h.Summary = status, reason, summary
	}
	switch {
	case able.Is("False") && !strings.HasPrefix(able.Reason, "Backoff"):
		override(result.Failed, able.Reason, "Cannot scale: "+builtin.ScaleTarget(o, able))
		allowStart(&h, o)
	case active.Reason == "ScalingDisabled":
		override(result.Current, "", "Disabled: target is scaled to zero")
	case active.Is("False"):
		override(result.Failed, active.Reason, builtin.Metrics(active))
		if !builtin.HasNoMetricsAPI(active) {
			allowStart(&h, o)
		}
	case able.Status == "" && active.Status == "":
		override(result.InProgress, "NotObserved", "Controller has not observed the latest spec yet")
		h.SetUnobserved(o, o.Created(), verdict.Degraded)
	case limited.Is("True") && limited.Reason == "TooManyReplicas" && current >= most && least < most:
		h.StartedAt, h.Promised, h.Overdue = limited.ChangedAt, limitTolerance, verdict.Degraded
		h.OverdueReason = limited.Reason
		h.OverdueSummary = fmt.Sprintf("At its maximum of %s, and its metrics require more", counted(most, "replica"))
	// A policy that is disabled limits the desired replicas to the current ones.
	case limited.Is("True") && limited.Reason == "ScaleUpLimit" && isScaleUpDisabled(o):
		h.StartedAt, h.Promised, h.Overdue = limited.ChangedAt, limitTolerance, verdict.Degraded
		h.OverdueReason = limited.Reason
		h.OverdueSummary = "Scaling up is disabled (behavior.scaleUp.selectPolicy), but the metrics require more than " +
			counted(current, "replica")
	case h.Status == result.InProgress:
		h.Summary, h.Details = fmt.Sprintf(
			"Scaling from %d to %s (min %d, max %d)", current, counted(desired, "replica"), least, most,
		), nil
		h.Progress(o.Time("status", "lastScaleTime"), verdict.Degraded)
		h.Promised = mismatchTolerance
		h.ExplainOverdue("Target not scaled to the desired "+counted(desired, "replica"),
			result.ControllerManager+" might not be running")
	}
	if limited.Is("True") {
		h.Details = append(h.Details, "Limited: "+limited.Explanation())
	}
	return h
}

func isScaleUpDisabled(o object.Object) bool {
	return o.Child("spec", "behavior", "scaleUp").Text("selectPolicy") == "Disabled"
}

// allowStart replaces the status Failed by InProgress until result.SettleTime after the creation of the object. For
// example, the target of a new autoscaler possibly has no metrics yet.
func allowStart(r *result.Result, o object.Object) {
	if created := o.Created(); !created.IsZero() {
		r.Status = result.InProgress
		r.Progress(created, verdict.Failed)
	}
}

func podDisruptionBudget(o object.Object, status result.Status) result.Result {
	allowed, expected := o.Count("status", "disruptionsAllowed"), o.Count("status", "expectedPods")
	healthy, required := o.Count("status", "currentHealthy"), o.Count("status", "desiredHealthy")
	h := result.Result{Status: status, Summary: counted(allowed, "disruption") + " allowed"}
	h.Details = []string{
		ratioText(healthy, expected, "pods", fmt.Sprintf("healthy (%d required)", required)),
	}
	failed := slices.IndexFunc(o.Conditions(), func(c object.Condition) bool {
		return c.Is("False") && c.Reason == "SyncFailed"
	})
	switch {
	case failed >= 0:
		c := o.Conditions()[failed]
		h.Status, h.Summary, h.Reason = result.Failed, "Allowed disruptions cannot be computed: "+c.Explanation(), c.Reason
		h.Severity = verdict.Degraded // The budget blocks evictions, but its pods run.
	// The API server sets all counts of a new budget to 0, before the controller observes it.
	case o.IsNeverObserved() || !o.Has("status", "expectedPods"):
		h.Status, h.Summary, h.Details = result.InProgress, "Controller has not observed the latest spec yet", nil
		h.Reason = "NotObserved"
		h.SetUnobserved(o, o.Created(), verdict.Degraded)
	case healthy < required && expected > 0 && allowed == 0:
		h.Status, h.Details, h.Reason = result.InProgress, nil, "TooFewHealthyPods"
		h.Summary = "Blocks evictions: " + ratioText(healthy, expected, "pods", fmt.Sprintf("healthy, %d required", required))
		h.Progress(time.Time{}, verdict.Degraded) // No problem at once: after a restart, pods are unready for a short time.
	case allowed == 0:
		h.Summary = "No disruptions allowed"
	}
	return h
}
