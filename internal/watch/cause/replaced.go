package cause

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// attempt matches kinds whose objects are made one after the other, and not side by side like replicas.
var attempt = regexp.MustCompile(
	`(Request|Order|Challenge|Run|Revision|Workflow|Backup|Restore|Job|Execution|Attempt|Migration)$`)

// IsAttempt reports whether the objects of a kind are made one after the other.
func IsAttempt(kind graph.Kind) bool { return attempt.MatchString(kind.Kind) }

// maxAttempts limits the attempts that are searched for one that was successful later. Few of them are decoded.
const maxAttempts = subject.MaxOwned

// superseded returns OK for a failed attempt, such as a Job, that its owner no longer needs, or that was repeated with
// success. Otherwise, it returns nil.
func superseded(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || !IsAttempt(s.ID.Kind) {
		return nil
	}
	if v := repeated(s); v != nil {
		return v
	}
	// The status of many owners, such as schedules of backups, has no health.
	owner := s.OrderlyOwner(verdict.OK, verdict.None)
	if owner == nil || !isSuperseded(s, owner) {
		return nil
	}
	return subject.ReplacedBy(owner, subject.Superseded, "no longer needs this object")
}

// repeated returns OK for a failed attempt without an owner if a newer object with the same spec has succeeded, such as
// the second migration of a virtual machine.
func repeated(s *subject.Subject) *verdict.Verdict {
	if !resource.IsCustom(s.ID.Group) || hasOwner(s, s.ID) {
		return nil
	}
	spec := specOf(s.Object)
	if len(spec) == 0 {
		return nil
	}
	for _, n := range s.All(s.ID.Kind, s.ID.Namespace(), maxAttempts) {
		// A sibling with an owner is an attempt of this owner, not a repetition.
		isOK := n.ID != s.ID && n.Object.Verdict().Own().Severity() == verdict.OK
		if isOK && isNewer(&n, &s.Neighbor) && !hasOwner(s, n.ID) && bytes.Equal(specOf(n.Object), spec) {
			subject.Follow(s, &n)
			return subject.ReplacedBy(&n, subject.Superseded, "has the same spec, and succeeded later")
		}
	}
	return nil
}

func hasOwner(s *subject.Subject, id graph.ID) bool {
	_, owners := s.References(id)
	return len(owners) > 0
}

// isNewer reports whether the object a was created after the object b. The times have a resolution of one second. If
// both objects were created in the same second, the object with the later name counts as newer.
func isNewer(a, b *neighbor.Neighbor) bool {
	return cmp.Or(a.Object.Created().Compare(b.Object.Created()), strings.Compare(a.ID.Key, b.ID.Key)) > 0
}

// specOf returns the JSON text of an object's specification, or nil if the specification is empty. The API server sends
// the members of a custom resource in alphabetical order, so equal specifications have the same text.
func specOf(o neighbor.Object) (spec []byte) {
	text, err := o.JSON()
	if err != nil {
		return nil
	}
	c := jsonscan.NewCursor(text)
	_ = c.Object(func(key []byte) error {
		if string(key) != "spec" {
			return nil
		}
		if value, err := c.Value(); err == nil && string(value) != "{}" && string(value) != "null" {
			spec = value
		}
		return jsonscan.ErrStop
	})
	return spec
}

// isSuperseded reports whether the owner has ended, was replaced itself, or has a newer object of the subject's kind
// that has no problem.
func isSuperseded(s *subject.Subject, owner *neighbor.Neighbor) bool {
	isUnrated := owner.Object.Verdict().Own().Severity() == verdict.None
	switch {
	case isUnrated && !resource.IsCustom(s.ID.Group):
		return false // Such an owner can have Jobs side by side, such as one for each node.
	case !isUnrated && (owner.Object.Verdict().Own().Severity() != verdict.OK || subject.IsComplete(owner)):
		return true
	}
	siblings := s.Existing(s.Owned(owner.Object.UID(), maxAttempts))
	return slices.ContainsFunc(siblings, func(n neighbor.Neighbor) bool {
		if n.ID.Kind != s.ID.Kind || n.ID == s.ID || n.Object.Verdict().Own().Severity() != verdict.OK {
			return false
		}
		if isUnrated {
			return isNewer(&n, &s.Neighbor)
		}
		return !n.Object.Created().Before(s.Object.Created())
	})
}
