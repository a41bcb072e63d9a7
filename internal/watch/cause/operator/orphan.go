package operator

import (
	"regexp"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// orphaned matches a message that no other object includes an object. Contour reports this about an HTTPProxy.
var orphaned = regexp.MustCompile(`(?i)\borphaned\b|\bnot part of a delegation chain\b`)

// parent returns the only object of the subject's kind in the namespace that refers to a missing object of this kind.
// The sentence must state that no object includes the subject, which was probably renamed. If there is another orphaned
// object, parent returns nil.
func parent(s *subject.Subject, sentence string) (found *neighbor.Neighbor) {
	if !orphaned.MatchString(sentence) || !subject.KnowsAll(s, s.ID.Kind, s.ID.Namespace()) {
		return nil
	}
	all := s.All(s.ID.Kind, s.ID.Namespace(), maxObjects)
	if len(all) == maxObjects {
		return nil
	}
	for n := range all {
		other := &all[n]
		subject.Follow(s, other)
		v := other.Object.Verdict()
		cause := v.Unpack().Cause
		switch {
		case other.ID == s.ID:
		case orphaned.MatchString(v.Own().Unpack().Sentence):
			return nil
		case cause == nil || !cause.Missing || neighbor.IDOf(&cause.Object).Kind != s.ID.Kind:
		case found != nil:
			return nil
		default:
			found = other
		}
	}
	return found
}
