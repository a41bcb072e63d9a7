package cause

import (
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// maxMentions limits the objects that are searched for one message.
const maxMentions = 5

var (
	// missingMention matches the name of an object that a message calls missing, after one or two words for its kind.
	// For example: `device class gpu does not exist` or `secrets "db" not found`.
	missingMention = regexp.MustCompile(`([A-Za-z]+)(?: ([A-Za-z]+))?(?:\.([a-z0-9.-]+))?[ /]["'` + "`" + `]?` +
		`(?:([a-z0-9][a-z0-9-]*)/)?([a-z0-9][a-z0-9.-]*)["'` + "`" + `]? ` +
		`(?:was not found|not found|could not be found|is missing|does not exist|doesn't exist)`)
	// mention matches the kind and the name of an object in a message, such as "Deployment/shop/api".
	mention = regexp.MustCompile(`\b([A-Z][A-Za-z]+)(?:\.([a-z0-9.-]+))?[ /]["'` + "`" + `]?` +
		`(?:([a-z0-9][a-z0-9-]*)/)?([a-z0-9][a-z0-9.-]*)`)
)

// named searches for an object that the subject's sentence names. It is the cause if it is missing or has a problem.
func named(s *subject) *verdict.Verdict {
	if v := namedMissing(s); v != nil {
		return v
	}
	for _, found := range mention.FindAllStringSubmatch(s.own.Sentence, maxMentions) {
		candidates := s.Named(s.ID, &neighbor.Mention{
			Kind: found[1], Group: found[2], Namespace: found[3], Name: strings.TrimRight(found[4], ".-"),
		})
		for n := range candidates {
			if candidates[n].ID != s.ID && s.hasProblem(&candidates[n]) {
				s.reads(&candidates[n])
				v := s.because(verdict.Degraded, &candidates[n], "")
				v.Reason, v.Sentence = s.own.Reason, s.own.Sentence
				return v
			}
		}
	}
	return nil
}

// namedMissing explains a problem by a missing object that its sentence names.
func namedMissing(s *subject) *verdict.Verdict {
	if !s.own.Severity.IsProblem() {
		return nil
	}
	for _, found := range missingMention.FindAllStringSubmatch(s.own.Sentence, maxMentions) {
		kinds := []string{found[1] + found[2], found[2]}
		if found[2] == "" {
			kinds = kinds[:1]
		}
		for _, kind := range kinds {
			candidates := s.Named(s.ID, &neighbor.Mention{Kind: kind, Group: found[3], Namespace: found[4], Name: found[5]})
			if len(candidates) == 0 {
				continue
			}
			// Otherwise, it has been created meanwhile, the message means another one, or the kind is not watched.
			if slices.ContainsFunc(candidates, func(n neighbor.Neighbor) bool { return n.Presence != neighbor.Missing }) {
				return nil
			}
			return s.inherit(verdict.Degraded, s.own.Reason, s.own.Sentence, &verdict.Cause{
				Object: neighbor.ObjectOf(&candidates[0]), Sentence: missingText(s.ID.Namespace(), &candidates[0]), Missing: true,
			})
		}
	}
	return nil
}
