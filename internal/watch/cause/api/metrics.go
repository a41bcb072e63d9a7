package api

import (
	"cmp"
	"regexp"
)

// metricsPattern matches the name of a metrics API in a message of an autoscaler, such as "from custom metrics API" or
// "get pods.metrics.k8s.io".
var metricsPattern = regexp.MustCompile(
	`\b(external|custom|resource) metrics API\b|\b((?:external\.|custom\.)?metrics\.k8s\.io)\b`)

// MetricsAPI returns the API group of the metrics API that a message of an autoscaler names, or "".
func MetricsAPI(message string) string {
	found := metricsPattern.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	return cmp.Or(map[string]string{
		"external": "external.metrics.k8s.io", "custom": "custom.metrics.k8s.io", "resource": "metrics.k8s.io",
	}[found[1]], found[2])
}
