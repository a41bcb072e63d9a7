package api_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
)

func TestMetricsAPIIsFoundInMessages(t *testing.T) {
	for message, want := range map[string]string{
		"unable to fetch metrics from custom metrics API: no custom metrics API registered": "custom.metrics.k8s.io",
		"unable to fetch metrics from external metrics API: not found":                      "external.metrics.k8s.io",
		"unable to fetch metrics from resource metrics API: not found":                      "metrics.k8s.io",
		"the server is currently unable to handle the request (get pods.metrics.k8s.io)":    "metrics.k8s.io",
		"the server could not find the requested resource (get custom.metrics.k8s.io)":      "custom.metrics.k8s.io",
		"the HPA controller was unable to get the target's current scale":                   "",
	} {
		t.Run(message, func(t *testing.T) {
			if got := api.MetricsAPI(message); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
