package operator

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// OfLabeled explains a custom resource that has a problem, but reports no error, by the problem of the resource of
// which it is a part. A label of a related API group contains the name of this resource. For example, a user of the
// group kafka.strimzi.io waits, and its label "strimzi.io/cluster: events" names a cluster of the same group.
func OfLabeled(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || wording.NamesError(s.Own.Sentence) || isPaused(s) {
		return nil
	}
	labels := domainLabels(&s.Neighbor, s.ID.Group)
	keys := slices.Sorted(maps.Keys(labels))
	for _, key := range keys[:min(len(keys), maxLists)] {
		domain, _, _ := strings.Cut(key, "/")
		isRelated := func(group string) bool { return isInDomain(group, domain) }
		named := subject.OfAllKinds(s, isRelated, s.ID.Namespace(), labels[key])
		named = slices.DeleteFunc(named, func(n neighbor.Neighbor) bool {
			// An object with the same label is also only a part.
			return n.Object == nil || n.ID.Kind == s.ID.Kind || domainLabels(&n, s.ID.Group)[key] == labels[key]
		})
		if len(named) != 1 || named[0].IsOwnedBy(s.Object.UID()) || isAncestor(s, named[0].ID) ||
			s.IsDependent(named[0]) || !s.HasProblem(&named[0]) {
			continue // Owned objects explain their owner, not the reverse.
		}
		if via := named[0].Object.Verdict().Unpack().Via; via != nil && via.Kind == s.ID.Kind.Kind {
			continue // The problem is that of another part.
		}
		return s.Inherit(&named[0], verdict.Degraded, subject.Sentences(s.Own.Sentence, s.Name(&named[0])+": "))
	}
	return nil
}

// maxAncestors is the maximum number of owners, one above the other, that are read.
const maxAncestors = 5

// isAncestor reports whether the object with the given ID owns the subject, directly or through other owners.
func isAncestor(s *subject.Subject, ancestor graph.ID) bool {
	id := s.ID
	for range maxAncestors {
		_, owners := s.References(id)
		if len(owners) == 0 {
			return false
		}
		if slices.ContainsFunc(owners, func(o graph.Owner) bool { return o.ID == ancestor }) {
			return true
		}
		id = owners[0].ID
	}
	return false
}

// domainLabels returns the labels whose keys start with a domain of an API group, such as strimzi.io for
// kafka.strimzi.io.
func domainLabels(n *neighbor.Neighbor, group string) map[string]string {
	labels := neighbor.Decode[metav1.PartialObjectMetadata](n.Object).Labels
	for key, value := range labels {
		domain, _, _ := strings.Cut(key, "/")
		if value == "" || !isInDomain(group, domain) {
			delete(labels, key)
		}
	}
	return labels
}

func isInDomain(group, domain string) bool {
	return group == domain || strings.HasSuffix(group, "."+domain)
}
