package mention

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// MissingAtDeletion explains why a deletion does not end: an object to which the subject refers is missing, and the
// controller cannot clean up without it. This is certain only if the error of the subject names the missing object, or
// if the subject reports no error and cleanup needs objects of this kind. If the namespace of the missing object is
// being deleted, or is unknown, the object was possibly deleted together with the subject.
func MissingAtDeletion(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	_, failure, _ := strings.Cut(s.Own.Sentence, ". ") // The part before is about the finalizers.
	candidates := slices.Collect(s.Used(func(u *graph.Use) bool { return !u.Optional && canOutlive(u) }))
	for _, t := range targets(s, nil) {
		if t.isSure && t.by.IsRef {
			candidates = append(candidates, t.Neighbor)
		}
	}
	for n := range candidates {
		c := &candidates[n]
		isCause := subject.ContainsName(failure, c.ID.Name()) ||
			isNeededForCleanup(c.ID.Kind.Kind) && !symptom.NamesError(failure)
		if isCause && c.Presence == neighbor.Missing && c.Resource != "" && remains(s, c.ID.Namespace()) {
			cause := s.MissingCause(c)
			return s.Explain(verdict.Degraded, s.Own.Reason, s.Own.Sentence+"; "+cause.Sentence, cause)
		}
	}
	return nil
}

// canOutlive reports whether the target of a reference normally outlives the object that uses it. If the member's name
// ends with "Name" (secretName), the object's controller possibly creates the target, and deletes it before the object.
// This does not apply to classes.
func canOutlive(u *graph.Use) bool {
	return !strings.HasSuffix(u.Via, "Name") || strings.HasSuffix(u.Target.Kind.Kind, "Class")
}

// isNeededForCleanup reports whether a controller needs an object of a kind to delete what it created outside the
// cluster. For example, a ProviderConfig contains the credentials of a cloud.
func isNeededForCleanup(kind string) bool {
	switch kind {
	case "ProviderConfig", "Issuer", "ClusterIssuer", "SecretStore", "ClusterSecretStore":
		return true
	}
	return strings.HasSuffix(kind, "Class")
}

// remains reports whether a namespace exists and is not being deleted. For an empty name, which means the cluster, it
// returns true.
func remains(s *subject.Subject, name string) bool {
	if name == "" {
		return true
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", name))
	subject.Follow(s, &n)
	return n.Object != nil && neighbor.Decode[metav1.PartialObjectMetadata](n.Object).DeletionTimestamp == nil
}
