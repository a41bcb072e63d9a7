package operator

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// OfReference explains a custom resource by the problem of another custom resource to which it refers, if an object
// that it owns is only not ready: its containers run, and possibly wait for the other resource. A member of the status
// must be about this resource, as elasticsearchAssociationStatus is about an Elasticsearch.
func OfReference(s *subject.Subject, owned *neighbor.Neighbor) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || !strings.Contains(owned.Object.Verdict().Unpack().Sentence, " readiness probe") {
		return nil
	}
	v := mention.ReferenceProblem(s)
	if v == nil || v.Via == nil || !resource.IsCustom(neighbor.IDOf(v.Via).Group) {
		return nil
	}
	for member := range neighbor.Decode[struct {
		Status map[string]any `json:"status"`
	}](s.Object).Status {
		if strings.HasPrefix(strings.ToLower(member), strings.ToLower(v.Via.Kind)) {
			return v
		}
	}
	return nil
}
