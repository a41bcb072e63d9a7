// Package mesh explains why a Gateway or a VirtualService of Istio forwards no requests. It also finds the policies
// because of which pods accept only mutual TLS or deny requests.
package mesh

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// maxNamespaces limits in how many namespaces the pods of a Gateway are searched.
	maxNamespaces = 100 * neighbor.Limit
	// recheckInterval is the time after which a Gateway without pods is evaluated again. Its pods can be in any namespace,
	// so that a new pod does not cause an evaluation.
	recheckInterval = 30 * time.Second
)

// Gateway explains a Gateway whose selector matches no pod. No proxy then opens the ports of the Gateway. By default,
// Istio searches the pods in all namespaces.
func Gateway(s *subject.Subject) *verdict.Verdict {
	selected := neighbor.Decode[struct {
		Spec struct {
			Selector map[string]string `json:"selector"`
		} `json:"spec"`
	}](s.Object).Spec.Selector
	selector := objectrefs.SelectorOf(selected)
	if selector == nil || s.Own.Severity.IsProblem() || !s.IsSettled() {
		return nil // Without a selector, a Gateway applies to all pods.
	}
	namespaces, isComplete := subject.AllOf(s, graph.Kind{Kind: "Namespace"}, "", maxNamespaces)
	for n := range namespaces {
		for _, pod := range s.Existing(s.Selected(namespaces[n].ID.Name(), selector, 1)) {
			subject.Follow(s, &pod) // Its deletion causes another evaluation.
			return nil
		}
	}
	if !isComplete || !subject.KnowsAll(s, graph.Kind{Kind: "Pod"}, "") {
		return nil // The selector can match an unknown pod.
	}
	s.RevisitAt(s.Now().Add(recheckInterval))
	s.AddSource(subject.PodsRef, "")
	return unselected(s, selector, selected)
}

// unselected explains a Gateway whose selector matches no pod: by the only workload that should create such pods, or by
// a wrong selector if there is no such workload. A workload without a problem explains nothing, because it has no pods
// on purpose, or will soon create them.
func unselected(s *subject.Subject, selector *objectrefs.Selector, labels map[string]string) *verdict.Verdict {
	var value string // Each workload whose pod template matches contains this text.
	for _, text := range labels {
		value = max(value, text)
	}
	workloads, ok := subject.Workloads(s, func([]corev1.Container) bool { return true }, value)
	if !ok {
		return nil
	}
	workloads = slices.DeleteFunc(workloads, func(n neighbor.Neighbor) bool {
		return !selector.Matches(subject.Template(&n).Labels)
	})
	sentence := "The Gateway forwards no requests: its selector " + selector.String() + " matches no pod"
	switch len(workloads) {
	case 0:
		return s.Explain(verdict.Failed, subject.NoPods, sentence, nil)
	case 1:
		subject.Follow(s, &workloads[0])
		if s.HasProblem(&workloads[0]) {
			return s.Inherit(&workloads[0], verdict.Failed, sentence+". "+s.Name(&workloads[0])+": ")
		}
	}
	return nil
}

// Entry explains a VirtualService by a failed Gateway through which its requests should enter the mesh.
func Entry(s *subject.Subject) *verdict.Verdict {
	var first *neighbor.Neighbor
	isOther := false // Requests also enter through another Gateway.
	for n := range s.Used(subject.In("spec.gateways")) {
		switch {
		case !s.IsFailed(&n):
			isOther = true
		case first == nil:
			first = &n
		}
	}
	if first == nil {
		return nil
	}
	severity := verdict.Failed
	if isOther || slices.Contains(gatewaysOf(s), "mesh") {
		severity = verdict.Degraded
	}
	return s.Inherit(first, severity, s.Name(first)+": ")
}

func gatewaysOf(s *subject.Subject) []string {
	return neighbor.Decode[struct {
		Spec struct {
			Gateways []string `json:"gateways"`
		} `json:"spec"`
	}](s.Object).Spec.Gateways
}
