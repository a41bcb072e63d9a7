package mesh

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxServices limits how many Services are searched to find the Services of a gateway.
const maxServices = 20 * neighbor.Limit

// Credential explains a Gateway that refers to a missing object. Istio reads the Secret of a credentialName in
// the namespace of the pods that the Gateway selects, and not in the namespace of the Gateway.
func Credential(s *subject.Subject) *verdict.Verdict {
	text := s.Own.Reason + ": " + s.Own.Sentence
	isMissing := wording.NamesMissing(text) || strings.Contains(text, "NotFound")
	if !s.Own.Severity.IsProblem() || !isMissing {
		return nil
	}
	spec := neighbor.Decode[struct {
		Spec struct {
			Selector map[string]string `json:"selector"`
			Servers  []struct {
				TLS struct {
					CredentialName string `json:"credentialName"`
				} `json:"tls"`
			} `json:"servers"`
		} `json:"spec"`
	}](s.Object).Spec
	var names []string
	for n := range spec.Servers {
		name := spec.Servers[n].TLS.CredentialName
		if name != "" && !strings.Contains(name, "/") { // A name with a slash is the URL of another certificate source.
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil // Without a name to check, do not read the Services.
	}
	namespaces := namespacesOf(s, spec.Selector)
	for _, name := range names {
		if missing := missingIn(s, namespaces, name); missing != nil {
			v := s.ReportMissing(missing, verdict.Degraded)
			v.Sentence += " in the namespace of the gateway's pods"
			return v
		}
	}
	return nil
}

// namespacesOf returns the namespaces of the pods with the given labels. It finds these pods by their Services. The
// result is empty if the namespaces are not known.
func namespacesOf(s *subject.Subject, labels map[string]string) (namespaces []string) {
	kind := graph.Kind{Kind: "Service"}
	if len(labels) == 0 {
		return nil
	}
	services, isComplete := subject.AllOf(s, kind, neighbor.AnyNamespace, maxServices)
	if !isComplete {
		return nil
	}
	for n := range services {
		selector := neighbor.Decode[corev1.Service](services[n].Object).Spec.Selector
		isMatch := true
		for label, value := range labels {
			isMatch = isMatch && selector[label] == value
		}
		if namespace := services[n].ID.Namespace(); isMatch && !slices.Contains(namespaces, namespace) {
			s.AddSource(services[n].Resource, namespace)
			namespaces = append(namespaces, namespace)
		}
	}
	return namespaces
}

// missingIn checks for a Secret with the given name in each of the namespaces. If all of them lack it, missingIn
// returns the missing Secret of the first namespace. Otherwise, it returns nil.
func missingIn(s *subject.Subject, namespaces []string, name string) (missing *neighbor.Neighbor) {
	for _, namespace := range namespaces {
		n := s.Find(graph.NewID(graph.Kind{Kind: "Secret"}, namespace, name))
		subject.Follow(s, &n)
		if n.Presence != neighbor.Missing {
			return nil
		}
		if missing == nil {
			missing = &n
		}
	}
	return missing
}
