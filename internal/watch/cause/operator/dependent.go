package operator

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// inUse matches an error of a cloud about a resource that is not deleted because other resources need it.
var inUse = regexp.MustCompile(`(?i)\b(?:DependencyViolation|DeleteConflict|[a-z]*InUse[a-z]*|` +
	`has (?:\w+ )?(?:dependencies|dependents?)|(?:is )?(?:still|already|currently) (?:in use|being used|used)|` +
	`(?:is )?(?:in use|being used) by)\b`)

// Dependent explains a deletion that does not end, because a cloud refuses to delete a resource that another one needs.
// The cause is another resource of the same provider: it refers to the subject, and is not deleted either. Dependent
// uses only the own verdict of this resource, because it can have inherited its verdict from the subject.
func Dependent(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || !inUse.MatchString(subject.CompleteSentence(s)) {
		return nil
	}
	_, domain, _ := strings.Cut(s.ID.Group, ".")
	isFamily := func(group string) bool { // The provider of AWS has one group for each service, such as ec2 and rds.
		return group == s.ID.Group || strings.Count(domain, ".") > 1 && strings.HasSuffix(group, "."+domain)
	}
	var found []neighbor.Neighbor
	for _, kind := range subject.OfAllKinds(s, isFamily, s.ID.Namespace(), "-") {
		for _, n := range s.All(kind.ID.Kind, kind.ID.Namespace(), neighbor.Limit) {
			if n.ID == s.ID || !refersTo(s, &n) {
				continue
			}
			subject.Follow(s, &n)
			own := n.Object.Verdict().Own().Unpack()
			if own.Reason == subject.Terminating && own.Severity.IsProblem() {
				found = append(found, n)
			}
		}
	}
	// Another resource that is also in use is only a symptom.
	found = slices.DeleteFunc(found, func(n neighbor.Neighbor) bool {
		return inUse.MatchString(n.Object.Verdict().Own().Unpack().Sentence)
	})
	if len(found) != 1 {
		return nil
	}
	first := found[0]
	own := first.Object.Verdict().Own().Unpack()
	s.AddSource(first.Resource, first.ID.Namespace())
	return s.Explain(verdict.Degraded, s.Own.Reason,
		subject.Sentences(s.Own.Sentence, s.Name(&first)+" needs it: "+own.Why()),
		&verdict.Cause{Object: neighbor.ObjectOf(&first), Sentence: own.Why()})
}

// refersTo reports whether the spec of an object refers to the subject.
func refersTo(s *subject.Subject, n *neighbor.Neighbor) bool {
	text, _ := n.Object.JSON()
	if !bytes.Contains(text, []byte(`"`+s.ID.Name()+`"`)) {
		return false
	}
	return slices.ContainsFunc(mention.Referenced(subject.New(s.Cluster, *n)), func(t neighbor.Neighbor) bool {
		return t.ID == s.ID
	})
}
