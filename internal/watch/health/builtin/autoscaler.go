package builtin

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
)

// ScaleTarget explains why the autoscaler cannot scale its target.
func ScaleTarget(o object.Object, able object.Condition) string {
	target := o.Child("spec", "scaleTargetRef")
	if able.Reason == "FailedGetScale" && strings.HasSuffix(able.Message, " not found") && target != nil {
		return "its target " + target.Text("kind") + " " + target.Text("name") + " does not exist"
	}
	return able.ShortExplanation(
		"the HPA controller was unable to get the target's current scale: ",
		"the HPA controller was unable to update the target scale: ",
	)
}

// noMetricsAPI is the end of the error if the API server does not serve the resource metrics API.
const noMetricsAPI = "the server could not find the requested resource (get pods.metrics.k8s.io)"

// HasNoMetricsAPI reports whether an autoscaler has no metrics because the cluster does not serve their API.
func HasNoMetricsAPI(active object.Condition) bool {
	return strings.Contains(active.Message, noMetricsAPI)
}

// Metrics explains why an autoscaler cannot compute the number of replicas.
func Metrics(active object.Condition) string {
	if HasNoMetricsAPI(active) {
		return "Cannot read metrics: the cluster has no resource metrics API (metrics.k8s.io)"
	}
	return "Cannot compute the replica count: " +
		active.ShortExplanation("the HPA was unable to compute the replica count: ")
}
