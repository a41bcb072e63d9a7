// Package rival explains a custom resource by another object that already has what the resource needs, according to a
// message of the resource. The other object can be healthy.
package rival

import (
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// Find returns the object that has what the subject needs, according to a sentence, or nil.
func Find(s *subject.Subject, sentence string) *neighbor.Neighbor {
	for _, find := range []func(*subject.Subject, string) *neighbor.Neighbor{user, owner} {
		if n := find(s, sentence); n != nil {
			subject.Follow(s, n)
			return n
		}
	}
	return nil
}

// userPattern matches a message that an object belongs to another object.
var userPattern = regexp.MustCompile(`(?i)\b(?:conflict(?:s|ing|ed)?|duplicate|belongs to|(?:owned|managed) by|` +
	`already (?:in use|used|owned|managed|claimed|taken))\b`)

// user returns an object of the subject's kind that refers to the same object as the subject, if the sentence contains
// its name in quotation marks, or nil.
func user(s *subject.Subject, sentence string) *neighbor.Neighbor {
	if !userPattern.MatchString(sentence) {
		return nil
	}
	uses, _ := s.References(s.ID)
	for n := range uses[:min(len(uses), neighbor.Limit)] {
		users := s.Users(uses[n].Target, neighbor.Limit)
		slices.SortFunc(users, func(a, b graph.ID) int { return strings.Compare(a.Key, b.Key) })
		for _, id := range users {
			isRival := id.Kind == s.ID.Kind && id != s.ID && id.Namespace() == s.ID.Namespace()
			if isRival && IsQuoted(sentence, id.Name()) {
				other := s.Find(id)
				return &other
			}
		}
	}
	return nil
}

// IsQuoted reports whether a sentence contains a name in quotation marks.
func IsQuoted(sentence, name string) bool {
	return slices.ContainsFunc([]string{`"`, "'", "`"}, func(mark string) bool {
		return strings.Contains(sentence, mark+name+mark)
	})
}
