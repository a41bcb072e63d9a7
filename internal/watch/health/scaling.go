package health

import "fmt"

// autoscaler returns the health of a HorizontalPodAutoscaler. It is Failed if the autoscaler cannot scale or cannot
// read its metrics. kstatus has no rules for it.
func autoscaler(o node, _ Status) Health {
	now, want := o.count("status", "currentReplicas"), o.count("status", "desiredReplicas")
	h := Health{
		Status: Current,
		Summary: fmt.Sprintf(
			"%s (min %d, max %d)", counted(now, "replica"), o.countOr(1, "spec", "minReplicas"),
			o.count("spec", "maxReplicas"),
		),
	}
	able, active, limited := o.condition("AbleToScale"), o.condition("ScalingActive"), o.condition("ScalingLimited")
	if want != now && active.is("True") { // If the autoscaler is not active, the desired number is not known.
		h.Status = InProgress
		h.Details = append(h.Details, counted(want, "replica")+" desired")
	}
	worse := func(status Status, summary string) {
		h.Details = append([]string{h.Summary}, h.Details...)
		h.Status, h.Summary = status, summary
	}
	switch {
	case able.is("False") && able.reason != "BackoffBoth" && able.reason != "BackoffDownscale" &&
		able.reason != "BackoffUpscale":
		worse(Failed, "Cannot scale: "+able.why())
	case active.reason == "ScalingDisabled":
		worse(Current, "Disabled: target is scaled to zero")
	case active.is("False"):
		worse(Failed, "Cannot read metrics: "+active.why())
	case able.status == "" && active.status == "":
		worse(InProgress, "Controller has not observed it yet")
	}
	if limited.is("True") {
		h.Details = append(h.Details, "Limited: "+limited.why())
	}
	return h
}

// budget returns the health of a PodDisruptionBudget. It is Failed if fewer pods are healthy than required.
func budget(o node, verdict Status) Health {
	allowed, healthy, must :=
		o.count("status", "disruptionsAllowed"), o.count("status", "currentHealthy"),
		o.count("status", "desiredHealthy")
	h := Health{Status: verdict, Summary: counted(allowed, "disruption") + " allowed"}
	h.Details = []string{
		share(healthy, o.count("status", "expectedPods"), "pods", fmt.Sprintf("healthy (%d required)", must)),
	}
	failed := o.condition("DisruptionAllowed")
	switch {
	case failed.is("False") && failed.reason == "SyncFailed":
		h.Status, h.Summary = Failed, "Cannot be computed: "+failed.why()
	case !o.has("status", "expectedPods"):
		h.Status, h.Summary, h.Details = InProgress, "Controller has not observed it yet", nil
	case healthy < must:
		h.Status, h.Summary = Failed, "No disruptions allowed: too few healthy pods"
	case allowed == 0:
		h.Summary = "No disruptions allowed"
	}
	return h
}
