package subject

import (
	"cmp"
	"regexp"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// reporterPattern matches the name of the pod in the component of an event. Controllers that elect a leader often use
// the name of their pod and a UUID as their identity.
var reporterPattern = regexp.MustCompile(`_([a-z0-9.-]+)-[a-z0-9]{5,10}-[a-z0-9]{5}_[0-9a-f-]{36}$`)

// Reporter returns the only Deployment whose pod has created an event, or nil. It also finds the Deployment if the pod
// was replaced afterward.
func Reporter(s *Subject, e *corev1.Event) (reporter *neighbor.Neighbor) {
	found := reporterPattern.FindStringSubmatch(cmp.Or(e.Source.Component, e.ReportingController))
	kind := graph.Kind{Group: "apps", Kind: "Deployment"}
	if found == nil {
		return nil
	}
	all, isComplete := AllOf(s, kind, neighbor.AnyNamespace, maxWorkloads)
	if !isComplete {
		return nil
	}
	for n := range all {
		switch {
		case all[n].ID.Name() != found[1]:
		case reporter != nil:
			return nil
		default:
			reporter = &all[n]
		}
	}
	return reporter
}

// Template returns the template of the pods of a workload.
func Template(n *neighbor.Neighbor) corev1.PodTemplateSpec {
	return neighbor.Decode[workload](n.Object).Spec.Template
}
