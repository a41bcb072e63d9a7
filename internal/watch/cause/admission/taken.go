package admission

import (
	"cmp"
	"regexp"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
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
