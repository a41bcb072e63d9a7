package health

import (
	"fmt"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// horizontalPodAutoscaler returns Failed if the autoscaler cannot scale or read its metrics. kstatus has no rules for
// this kind.
func horizontalPodAutoscaler(o object, _ Status) result {
	current, desired := o.count("status", "currentReplicas"), o.count("status", "desiredReplicas")
	h := result{Health: Health{Status: Current, Summary: fmt.Sprintf(
		"%s (min %d, max %d)", counted(current, "replica"), o.countOr(1, "spec", "minReplicas"),
		o.count("spec", "maxReplicas"),
	)}}
	able, active, limited := o.condition("AbleToScale"), o.condition("ScalingActive"), o.condition("ScalingLimited")
	if desired != current && active.is("True") { // without metrics, desiredReplicas is not known
		h.Status, h.reason = InProgress, "Scaling"
		h.Details = append(h.Details, counted(desired, "replica")+" desired")
	}
	override := func(status Status, reason, summary string) {
		h.Details = append([]string{h.Summary}, h.Details...)
		h.Status, h.reason, h.Summary = status, reason, summary
	}
	switch {
	case able.is("False") && able.reason != "BackoffBoth" && able.reason != "BackoffDownscale" &&
		able.reason != "BackoffUpscale":
		override(Failed, able.reason, "Cannot scale: "+able.explanation())
	case active.reason == "ScalingDisabled":
		override(Current, "", "Disabled: target is scaled to zero")
	case active.is("False"):
		override(Failed, active.reason, "Cannot read metrics: "+active.explanation())
	case able.status == "" && active.status == "":
		override(InProgress, "NotObserved", "Controller has not observed the latest spec yet")
	}
	if limited.is("True") {
		h.Details = append(h.Details, "Limited: "+limited.explanation())
	}
	return h
}

func podDisruptionBudget(o object, status Status) result {
	allowed, healthy, required :=
		o.count("status", "disruptionsAllowed"), o.count("status", "currentHealthy"),
		o.count("status", "desiredHealthy")
	h := result{Health: Health{Status: status, Summary: counted(allowed, "disruption") + " allowed"}}
	h.Details = []string{
		ratioText(healthy, o.count("status", "expectedPods"), "pods", fmt.Sprintf("healthy (%d required)", required)),
	}
	failed := o.condition("DisruptionAllowed")
	switch {
	case failed.is("False") && failed.reason == "SyncFailed":
		h.Status, h.Summary, h.reason = Failed, "Cannot be computed: "+failed.explanation(), failed.reason
	case !o.has("status", "expectedPods"):
		h.Status, h.Summary, h.Details = InProgress, "Controller has not observed the latest spec yet", nil
		h.reason = "NotObserved"
	case healthy < required:
		h.Status, h.Summary, h.reason = Failed, "No disruptions allowed: too few healthy pods", "TooFewHealthyPods"
		h.severity = verdict.Degraded
	case allowed == 0:
		h.Summary = "No disruptions allowed"
	}
	return h
}
