package health

import (
	"fmt"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// limitTolerance is the time after which an autoscaler at its maximum is a problem, as in the alert KubeHpaMaxedOut of
// kubernetes-mixin.
const limitTolerance = 15 * time.Minute

// horizontalPodAutoscaler returns Failed if the autoscaler cannot scale or read its metrics. kstatus has no rules for
// this kind.
func horizontalPodAutoscaler(o object, _ Status) result {
	current, desired := o.count("status", "currentReplicas"), o.count("status", "desiredReplicas")
	least, most := o.countOr(1, "spec", "minReplicas"), o.count("spec", "maxReplicas")
	h := result{Health: Health{Status: Current, Summary: fmt.Sprintf(
		"%s (min %d, max %d)", counted(current, "replica"), least, most,
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
	case able.is("False") && !strings.HasPrefix(able.reason, "Backoff"):
		override(Failed, able.reason, "Cannot scale: "+scaleTargetText(o, able))
		h.allowStart(o)
	case active.reason == "ScalingDisabled":
		override(Current, "", "Disabled: target is scaled to zero")
	case active.is("False"):
		override(Failed, active.reason, "Cannot read metrics: "+metricsText(active))
		if !strings.Contains(active.message, noMetricsAPI) {
			h.allowStart(o)
		}
	case able.status == "" && active.status == "":
		override(InProgress, "NotObserved", "Controller has not observed the latest spec yet")
	case limited.is("True") && limited.reason == "TooManyReplicas" && current >= most && least < most:
		h.startedAt, h.promised, h.overdue = limited.changedAt, limitTolerance, verdict.Degraded
		h.overdueReason = limited.reason
		h.overdueSummary = fmt.Sprintf("At its maximum of %s, and its metrics require more", counted(most, "replica"))
	}
	if limited.is("True") {
		h.Details = append(h.Details, "Limited: "+limited.explanation())
	}
	return h
}

// allowStart makes a failure of a new autoscaler progress, because its target possibly has no metrics yet.
func (r *result) allowStart(o object) {
	if created := o.time("metadata", "creationTimestamp"); !created.IsZero() {
		r.Status = InProgress
		r.progress(created, verdict.Failed)
	}
}

// scaleTargetText explains why the autoscaler cannot scale its target.
func scaleTargetText(o object, able condition) string {
	target := o.child("spec", "scaleTargetRef")
	if able.reason == "FailedGetScale" && strings.HasSuffix(able.message, " not found") && target != nil {
		return "its target " + target.text("kind") + " " + target.text("name") + " does not exist"
	}
	return able.shortExplanation(
		"the HPA controller was unable to get the target's current scale: ",
		"the HPA controller was unable to update the target scale: ",
	)
}

// noMetricsAPI is the end of the error if the API server does not serve the resource metrics API.
const noMetricsAPI = "the server could not find the requested resource (get pods.metrics.k8s.io)"

func metricsText(active condition) string {
	if strings.Contains(active.message, noMetricsAPI) {
		return "the cluster has no resource metrics API (metrics.k8s.io)"
	}
	return active.shortExplanation("the HPA was unable to compute the replica count: ")
}

func podDisruptionBudget(o object, status Status) result {
	allowed, expected := o.count("status", "disruptionsAllowed"), o.count("status", "expectedPods")
	healthy, required := o.count("status", "currentHealthy"), o.count("status", "desiredHealthy")
	h := result{Health: Health{Status: status, Summary: counted(allowed, "disruption") + " allowed"}}
	h.Details = []string{
		ratioText(healthy, expected, "pods", fmt.Sprintf("healthy (%d required)", required)),
	}
	failed := o.condition("DisruptionAllowed")
	switch {
	case failed.is("False") && failed.reason == "SyncFailed":
		h.Status, h.Summary, h.reason = Failed, "Cannot be computed: "+failed.explanation(), failed.reason
	case !o.has("status", "expectedPods"):
		h.Status, h.Summary, h.Details = InProgress, "Controller has not observed the latest spec yet", nil
		h.reason = "NotObserved"
	case healthy < required && expected > 0 && allowed == 0:
		h.Status, h.Details, h.reason = InProgress, nil, "TooFewHealthyPods"
		h.Summary = "Blocks evictions: " + ratioText(healthy, expected, "pods", fmt.Sprintf("healthy, %d required", required))
		h.progress(time.Time{}, verdict.Degraded) // A rollout or a restart makes pods unready for a short time.
	case allowed == 0:
		h.Summary = "No disruptions allowed"
	}
	return h
}
