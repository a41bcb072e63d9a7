package mention

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
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
			isNeededForCleanup(c.ID.Kind.Kind) && !wording.NamesError(failure)
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

// protection matches a finalizer that protects an object while other objects use it. The group captures its domain.
var protection = regexp.MustCompile(`^([a-z0-9.-]+)/[a-z0-9.-]*\b(?:protection|in-?use)\b`)

// protected explains why a deletion does not end: a finalizer protects the subject while objects use it, and such an
// object has a problem of its own. By convention, the domain of the finalizer is the API group of these objects.
func protected(s *subject.Subject) *verdict.Verdict {
	if s.Own.Reason != subject.Terminating || !s.Own.Severity.IsProblem() {
		return nil
	}
	for _, finalizer := range neighbor.Decode[metav1.PartialObjectMetadata](s.Object).Finalizers {
		found := protection.FindStringSubmatch(finalizer)
		if found == nil {
			continue
		}
		for _, n := range usersIn(s, groupOf(found[1])) {
			subject.Follow(s, &n)
			// Use only the user's own verdict: the user can have inherited its verdict from the subject.
			if own := n.Object.Verdict().Own().Unpack(); own.Severity.IsProblem() {
				s.AddSource(n.Resource, n.ID.Namespace())
				return s.Explain(verdict.Degraded, s.Own.Reason,
					subject.Sentences(s.Own.Sentence, s.Name(&n)+" uses it: "+own.Why()),
					&verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: own.Why()})
			}
		}
	}
	return nil
}

// groupOf returns the API group that the domain of a finalizer means. Finalizers of Kubernetes contain kubernetes.io,
// and its API groups contain k8s.io.
func groupOf(domain string) string {
	if prefix, ok := strings.CutSuffix(domain, ".kubernetes.io"); ok {
		return prefix + ".k8s.io"
	}
	return domain
}

// usersIn returns the objects of an API group that use the subject, but that the subject does not use, sorted by name.
// A member of the kind that the group names can also refer to the subject by convention. For example,
// persistentVolumeClaimName in a VolumeSnapshot of the group snapshot.storage.k8s.io names a PersistentVolumeClaim.
func usersIn(s *subject.Subject, group string) []neighbor.Neighbor {
	uses, _ := s.References(s.ID)
	found := slices.DeleteFunc(s.Existing(s.Users(s.ID, neighbor.Limit)), func(n neighbor.Neighbor) bool {
		isMutual := slices.ContainsFunc(uses, func(u graph.Use) bool { return u.Target == n.ID })
		return n.ID.Group != group || isMutual
	})
	word, _, _ := strings.Cut(group, ".")
	by := graph.NewID(graph.Kind{Group: group}, s.ID.Namespace(), "")
	for _, n := range s.Named(by, &neighbor.Mention{Kind: word, Group: group, IsWord: true, Name: "-"}) {
		for _, user := range s.All(n.ID.Kind, n.ID.Namespace(), neighbor.Limit) {
			if usesByConvention(&user, s.ID) {
				found = append(found, user)
			}
		}
	}
	slices.SortFunc(found, func(a, b neighbor.Neighbor) int { return strings.Compare(a.ID.Key, b.ID.Key) })
	return found
}

// usesByConvention reports whether a member of n with the name of a kind refers to the object id in the same namespace.
func usesByConvention(n *neighbor.Neighbor, id graph.ID) bool {
	text, _ := n.Object.JSON()
	return n.ID.Namespace() == id.Namespace() &&
		slices.ContainsFunc(objectrefs.Conventions(text), func(c objectrefs.Convention) bool {
			return c.Name == id.Name() && c.Namespace == "" && strings.EqualFold(c.Word, id.Kind.Kind)
		})
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
