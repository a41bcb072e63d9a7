package traffic

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

type serviceMonitor struct {
	Spec struct {
		Selector          metav1.LabelSelector `json:"selector"`
		NamespaceSelector map[string]any       `json:"namespaceSelector"`
		Endpoints         []struct {
			Port string `json:"port"`
		} `json:"endpoints"`
	} `json:"spec"`
}

// Monitor reports a custom resource that reads metrics of Services, such as a ServiceMonitor, but selects none. This is
// certain only if a Service with the name of the monitor has a port that the monitor reads, and only lacks a label.
// A monitor without such a Service can belong to an application that is not installed.
func Monitor(s *subject.Subject) *verdict.Verdict {
	kind := s.ID.Kind.Kind
	isMonitor := strings.HasSuffix(kind, "ServiceMonitor") || strings.HasSuffix(kind, "ServiceScrape")
	if !isMonitor || s.Own.Severity.IsProblem() || !s.IsSettled() {
		return nil
	}
	o := neighbor.Decode[serviceMonitor](s.Object)
	namesake := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, s.ID.Namespace(), s.ID.Name()))
	if len(o.Spec.NamespaceSelector) > 0 || len(o.Spec.Selector.MatchExpressions) > 0 || !o.reads(&namesake) {
		return nil
	}
	services := s.All(namesake.ID.Kind, s.ID.Namespace(), neighbor.Limit)
	isSelected := func(n neighbor.Neighbor) bool { return o.missingLabel(&n) == "" }
	if len(services) == neighbor.Limit || slices.ContainsFunc(services, isSelected) {
		return nil
	}
	subject.Follow(s, &namesake)
	s.RevisitAt(s.Now().Add(subject.SettleTime)) // Another Service possibly matches then.
	s.AddSource(namesake.Resource, s.ID.Namespace())
	return s.Explain(verdict.Degraded, "NoMatchingService", fmt.Sprintf(
		"Selects no Service: %s does not have the label %s", namesake.String(), o.missingLabel(&namesake)), nil)
}

// reads reports whether a Service has a port that the monitor reads.
func (o *serviceMonitor) reads(service *neighbor.Neighbor) bool {
	ports := neighbor.Decode[corev1.Service](service.Object).Spec.Ports
	for _, e := range o.Spec.Endpoints {
		if slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Name != "" && p.Name == e.Port }) {
			return true
		}
	}
	return false
}

// missingLabel returns a label that the selector of the monitor requires and that a Service does not have, or "".
func (o *serviceMonitor) missingLabel(service *neighbor.Neighbor) string {
	labels := neighbor.Decode[metav1.PartialObjectMetadata](service.Object).Labels
	for _, key := range slices.Sorted(maps.Keys(o.Spec.Selector.MatchLabels)) {
		if value := o.Spec.Selector.MatchLabels[key]; labels[key] != value {
			return key + "=" + value
		}
	}
	return ""
}
