package admission

import (
	"cmp"
	"regexp"
	"slices"

	networking "k8s.io/api/networking/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// takenPattern matches a message that an object with the name of a new object already exists, such as `services "web"
// already exists` of the API server, or `Service "web" in namespace "shop" exists and cannot be imported` of Helm.
var takenPattern = regexp.MustCompile(`\b([A-Za-z]+)(?:\.([a-z0-9.-]+))? "([a-z0-9][a-z0-9.-]*)"` +
	`(?: in namespace "([a-z0-9-]+)")? (?:already exists|exists and cannot be imported)`)

// takenName explains a failed creation by the existing object that already has the name of the new object.
func takenName(s *subject.Subject, message string) *verdict.Verdict {
	found := takenPattern.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	candidates := s.Named(s.ID, &neighbor.Mention{Kind: found[1], Group: found[2], Name: found[3], Namespace: found[4]})
	for n := range candidates {
		if c := &candidates[n]; c.Presence == neighbor.Present && c.ID != s.ID && !c.IsOwnedBy(s.Object.UID()) {
			return s.ExplainBy(c, s.Own.Severity, cmp.Or(s.Own.Reason, "AlreadyExists"),
				cmp.Or(s.Own.Sentence, c.String()+" already exists, and has another owner or no owner"))
		}
	}
	return nil
}

// takenPath matches the message of ingress-nginx that another Ingress already has a host and a path of a new Ingress.
var takenPath = regexp.MustCompile(
	`host "([^"]*)" and path "([^"]*)" is already defined in ingress ([a-z0-9-]+)/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)`)

// pathInUse explains a rejected Ingress by the existing Ingress that already has its host and its path.
func pathInUse(s *subject.Subject, message string) *verdict.Verdict {
	found := takenPath.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Group: networking.GroupName, Kind: "Ingress"}, found[3], found[4]))
	subject.Follow(s, &n)
	isOfHost := func(r networking.IngressRule) bool {
		return r.Host == found[1] && r.HTTP != nil && slices.ContainsFunc(r.HTTP.Paths,
			func(p networking.HTTPIngressPath) bool { return cmp.Or(p.Path, "/") == found[2] })
	}
	if n.ID == s.ID || !slices.ContainsFunc(neighbor.Decode[networking.Ingress](n.Object).Spec.Rules, isOfHost) {
		return nil // The Ingress was changed or deleted after the failure.
	}
	return s.ExplainBy(&n, s.Own.Severity, cmp.Or(s.Own.Reason, "AlreadyExists"), cmp.Or(s.Own.Sentence, message))
}
