package mention

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// componentPattern matches the name of a Component of Dapr: in the path of a request to the sidecar, or in an error.
var componentPattern = regexp.MustCompile(
	`/v1\.0(?:-[a-z0-9]+)?/(?:state|publish|bindings|secrets|configuration|lock|crypto)/([a-z0-9][a-z0-9.-]*)|` +
		`(?i:\b(?:state store|pub/?sub|secret store|binding|component)) ["']?([a-z0-9][a-z0-9-]*-[a-z0-9-]*[a-z0-9])`)

// FailedComponent explains a pod with a sidecar of Dapr whose container ended because of a Component: its error names
// the Component, which has a problem. The sidecar then works without this Component.
func FailedComponent(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if p.Annotations["dapr.io/enabled"] != "true" || !s.Own.Severity.IsProblem() || !subject.HasEnded(p) {
		return nil
	}
	for _, found := range componentPattern.FindAllStringSubmatch(subject.CompleteSentence(s), maxMentions) {
		kind := graph.Kind{Group: "dapr.io", Kind: "Component"}
		n := s.Find(graph.NewID(kind, s.ID.Namespace(), found[1]+found[2])) // Only one of them is not empty.
		if n.Object == nil {
			continue
		}
		subject.Follow(s, &n)
		scopes := neighbor.Decode[struct {
			Scopes []string `json:"scopes"` // The applications that get the Component, or none for all.
		}](n.Object).Scopes
		if !s.HasProblem(&n) || len(scopes) > 0 && !slices.Contains(scopes, p.Annotations["dapr.io/app-id"]) {
			continue
		}
		v := s.Inherit(&n, s.Own.Severity, subject.Sentences(s.Own.Sentence, n.String()+": "))
		v.Reason = s.Own.Reason
		return v
	}
	return nil
}
