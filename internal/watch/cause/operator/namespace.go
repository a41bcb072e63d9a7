package operator

import (
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// words matches the words of a name in CamelCase.
var words = regexp.MustCompile(`[A-Z][a-z0-9]*`)

// OfNamespace explains a resource by the problem of the cluster-scoped object whose name is the namespace of the
// resource. By this convention, controllers separate what belongs to such an object, for example to a cluster that they
// manage. The resource's reason must start with the object's kind, as in ManagedClusterLeaseUpdateStopped.
func OfNamespace(s *subject.Subject) *verdict.Verdict {
	ends := words.FindAllStringIndex(s.Own.Reason, maxLists)
	if !s.Own.Severity.IsProblem() || s.ID.Namespace() == "" || len(ends) < 2 || ends[0][0] != 0 {
		return nil
	}
	for n := len(ends) - 1; n > 0; n-- { // Ignore one word: it is rarely a kind.
		kind := s.Own.Reason[:ends[n][1]]
		for _, c := range s.Named(s.ID, &neighbor.Mention{Kind: kind, IsWord: true, Name: s.ID.Namespace()}) {
			if c.ID.Namespace() == "" && strings.EqualFold(c.ID.Kind.Kind, kind) && c.ID != s.ID && s.HasProblem(&c) {
				return s.Inherit(&c, verdict.Degraded, c.String()+": ")
			}
		}
	}
	return nil
}
