// Package mention explains objects by other objects that messages of the API server, the kubelet and controllers name.
package mention

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxMentions limits the objects that are searched for one message.
const maxMentions = 5

var (
	// missingPattern matches the name of an object that a message calls missing, after one or two words for its kind.
	// For example: `device class gpu does not exist` or `secrets "db" not found`.
	missingPattern = regexp.MustCompile(`([A-Za-z]+)(?: ([A-Za-z]+))?(?:\.([a-z0-9.-]+))?[ /]["'` + "`" + `]?` +
		`(?:([a-z0-9][a-z0-9-]*)/)?([a-z0-9][a-z0-9.-]*)["'` + "`" + `]? ` +
		`(?:was not found|not found|could not be found|is missing|does not exist|doesn't exist)`)
	// objectPattern matches the kind and the name of an object in a message, such as "Deployment/shop/api".
	objectPattern = regexp.MustCompile(`\b([A-Z][A-Za-z]+)(?:\.([a-z0-9.-]+))?[ /]["'` + "`" + `]?` +
		`(?:([a-z0-9][a-z0-9-]*)/)?([a-z0-9][a-z0-9.-]*)`)
	// remainingPattern matches a resource in the condition of a namespace, such as "widgets.example.com has 1 resource
	// instances".
	remainingPattern = regexp.MustCompile(`([a-z0-9-]+)\.([a-z0-9.-]*) has \d+ resource instances`)
	// metricsPattern matches the name of a metrics API in a message of an autoscaler, such as "from custom metrics API"
	// or "get pods.metrics.k8s.io".
	metricsPattern = regexp.MustCompile(
		`\b(external|custom|resource) metrics API\b|\b((?:external\.|custom\.)?metrics\.k8s\.io)\b`)
)

// Object explains a problem by an object that the subject's sentence names, and that is missing or has a problem.
func Object(s *subject.Subject) *verdict.Verdict {
	if v := MissingObject(s); v != nil {
		return v
	}
	for _, found := range objectPattern.FindAllStringSubmatch(s.Own.Sentence, maxMentions) {
		candidates := s.Named(s.ID, &neighbor.Mention{
			Kind: found[1], Group: found[2], Namespace: found[3], Name: strings.TrimRight(found[4], ".-"),
		})
		for n := range candidates {
			if c := &candidates[n]; c.ID != s.ID && s.HasProblem(c) {
				s.AddSource(c.Resource, c.ID.Namespace())
				v := s.Inherit(c, verdict.Degraded, "")
				v.Reason, v.Sentence = s.Own.Reason, s.Own.Sentence
				return v
			}
		}
	}
	return nil
}

// MissingObject explains a problem by a missing object that the subject's sentence names.
func MissingObject(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	for _, found := range missingPattern.FindAllStringSubmatch(s.Own.Sentence, maxMentions) {
		kinds := []string{found[1] + found[2], found[2]}
		if found[2] == "" {
			kinds = kinds[:1]
		}
		for _, kind := range kinds {
			candidates := s.Named(s.ID, &neighbor.Mention{Kind: kind, Group: found[3], Namespace: found[4], Name: found[5]})
			if len(candidates) == 0 {
				continue
			}
			// Otherwise, it has been created meanwhile, the message means another one, or the kind is not watched.
			if slices.ContainsFunc(candidates, func(n neighbor.Neighbor) bool { return n.Presence != neighbor.Missing }) {
				return nil
			}
			return s.Explain(verdict.Degraded, s.Own.Reason, s.Own.Sentence, s.MissingCause(&candidates[0]))
		}
	}
	return nil
}

// RemainingKinds returns the kinds of the objects that prevent the deletion of a namespace, according to a message of
// its condition NamespaceContentRemaining.
func RemainingKinds(s *subject.Subject, message string) (kinds []graph.Kind) {
	for _, found := range remainingPattern.FindAllStringSubmatch(message, maxMentions) {
		resource := &neighbor.Mention{
			Kind: found[1], Group: strings.TrimSuffix(found[2], "."), Namespace: s.ID.Name(), Name: "-",
		}
		for _, n := range s.Named(s.ID, resource) {
			kinds = append(kinds, n.ID.Kind)
		}
	}
	return kinds
}

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
