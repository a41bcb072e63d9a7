// Package sibling explains a custom resource by one of several objects of a kind in its namespace. Its rules read all
// of these objects, because a message of the resource names none of them.
package sibling

import (
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// maxObjects limits how many objects of one kind are searched.
const maxObjects = 10 * neighbor.Limit

// orphaned matches a message that no other object includes an object. Contour reports this about an HTTPProxy.
var orphaned = regexp.MustCompile(`(?i)\borphaned\b|\bnot part of a delegation chain\b`)

// Parent returns the only object of the subject's kind in the namespace that refers to a missing object of this kind
// with a similar name. The sentence must state that no object includes the subject, which was probably renamed. If
// another object is orphaned too, Parent returns nil.
func Parent(s *subject.Subject, sentence string) (found *neighbor.Neighbor) {
	if !orphaned.MatchString(sentence) {
		return nil
	}
	all, isComplete := subject.AllOf(s, s.ID.Kind, s.ID.Namespace(), maxObjects)
	if !isComplete {
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
		case cause == nil || !cause.Missing || v.Unpack().Via != nil ||
			neighbor.IDOf(&cause.Object).Kind != s.ID.Kind || !isSimilar(cause.Name, s.ID.Name()):
		case found != nil:
			return nil
		default:
			found = other
		}
	}
	return found
}

// isSimilar reports whether two names start with the same word, such as checkout and checkout-routes.
func isSimilar(a, b string) bool {
	return strings.Split(a, "-")[0] == strings.Split(b, "-")[0]
}
