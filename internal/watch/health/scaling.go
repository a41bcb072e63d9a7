package health

import "fmt"

// autoscaler returns the health of a HorizontalPodAutoscaler. It is Failed if the autoscaler cannot scale or cannot
// read its metrics. kstatus has no rules for it.
func autoscaler(o node, _ Status) Health {
	now, want := o.count("status", "currentReplicas"), o.count("status", "desiredReplicas")
	h := Health{
		Status: Current,
		Summary: fmt.Sprintf(
			"%d replicas, from %d to %d allowed", now, o.countOr(1, "spec", "minReplicas"),
			o.count("spec", "maxReplicas"),
		),
	}
	able, active, limited := o.condition("AbleToScale"), o.condition("ScalingActive"), o.condition("ScalingLimited")
	if want != now && active.is("True") { // If the autoscaler is not active, the desired number is not known.
		h.Status = InProgress
		h.Details = append(h.Details, fmt.Sprintf("%d replicas are wanted", want))
	}
	worse := func(status Status, summary string) {
		h.Details = append([]string{h.Summary}, h.Details...)
		h.Status, h.Summary = status, summary
	}
	switch {
	case able.is("False") && able.reason != "BackoffBoth" && able.reason != "BackoffDownscale" &&
		able.reason != "BackoffUpscale":
		worse(Failed, "cannot scale: "+able.why())
	case active.reason == "ScalingDisabled":
		worse(Current, "disabled: its target is scaled to zero")
	case active.is("False"):
		worse(Failed, "cannot read its metrics: "+active.why())
	case able.status == "" && active.status == "":
		worse(InProgress, "its controller has not seen it yet")
	}
	if limited.is("True") {
		h.Details = append(h.Details, "limited: "+limited.why())
	}
	return h
}

// budget returns the health of a PodDisruptionBudget. It is Failed if fewer pods are healthy than required.
func budget(o node, verdict Status) Health {
	allowed, healthy, must :=
		o.count("status", "disruptionsAllowed"), o.count("status", "currentHealthy"),
		o.count("status", "desiredHealthy")
	h := Health{Status: verdict, Summary: fmt.Sprintf("%d disruptions allowed", allowed)}
	h.Details = []string{
		share(healthy, o.count("status", "expectedPods"), "pods", fmt.Sprintf("healthy; there must be %d", must)),
	}
	failed := o.condition("DisruptionAllowed")
	switch {
	case failed.is("False") && failed.reason == "SyncFailed":
		h.Status, h.Summary = Failed, "cannot be reckoned: "+failed.why()
	case !o.has("status", "expectedPods"):
		h.Status, h.Summary, h.Details = InProgress, "its controller has not seen it yet", nil
	case healthy < must:
		h.Status, h.Summary = Failed, "no disruption allowed: too few pods are healthy"
	case allowed == 0:
		h.Summary = "no disruption allowed"
	case allowed == 1:
		h.Summary = "1 disruption allowed"
	}
	return h
}
