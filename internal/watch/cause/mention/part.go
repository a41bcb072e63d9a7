package mention

import (
	"slices"
	"strings"
	"unicode"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// missingUseOfUsed explains a problem by a missing object that a text names without its namespace. Another object that
// the subject uses refers to it in a namespace. For example, a ProviderConfig refers to the Secret of its credentials.
func missingUseOfUsed(s *subject.Subject, text string) *verdict.Verdict {
	if !wording.NamesMissing(text) {
		return nil
	}
	parts, by, _ := usesOfUsed(s, func(id graph.ID) bool {
		return namesAfterKind(text, id) && canMean(text, id)
	})
	for n := range parts {
		subject.Follow(s, &parts[n])
	}
	if len(parts) != 1 || parts[0].Presence != neighbor.Missing || parts[0].Resource == "" {
		return nil // If there are several objects, the text possibly means one of the others.
	}
	subject.Follow(s, &by)
	s.AddSource(by.Resource, by.ID.Namespace())
	cause := s.MissingCause(&parts[0])
	sentence := subject.Sentences(s.Own.Sentence, cause.Sentence+", but "+by.String()+" refers to it")
	return s.Explain(verdict.Degraded, s.Own.Reason, sentence, cause)
}

// usesOfUsed returns the indirect references of the subject for which include returns true: the objects to which an
// object that the subject uses refers. It also returns one of the objects that refer to them. It omits optional
// references, and those without a known namespace. If there are possibly more, it returns none, and isComplete is
// false: the list is too long, or a used object is not known.
func usesOfUsed(s *subject.Subject, include func(graph.ID) bool) (
	parts []neighbor.Neighbor, by neighbor.Neighbor, isComplete bool,
) {
	left := neighbor.Limit
	for used := range s.Used(nil) {
		isUnknown := used.Presence == neighbor.Unknown && resource.IsCustom(used.ID.Group)
		if left--; left < 0 || isUnknown {
			return nil, by, false
		}
		uses, _ := s.References(used.ID)
		for n := range uses {
			id := uses[n].Target
			isPart := !uses[n].Optional && id != s.ID && include(id) && (id.Namespace() != "" || used.ID.Namespace() != "")
			isKnown := slices.ContainsFunc(parts, func(p neighbor.Neighbor) bool { return p.ID == id })
			if used.Object != nil && isPart && !isKnown {
				parts, by = append(parts, s.Find(id)), used
			}
		}
	}
	return parts, by, true
}

// namesAfterKind reports whether a text contains the kind of an object, and its name at most three words later.
func namesAfterKind(text string, id graph.ID) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for at, word := range words {
		isKind := func(before string) bool {
			return strings.EqualFold(strings.TrimSuffix(strings.TrimRight(before, "."), "s"), id.Kind.Kind)
		}
		if strings.Trim(word, ".-") == id.Name() && slices.ContainsFunc(words[max(0, at-3):at], isKind) {
			return true
		}
	}
	return false
}

// namesNamespace reports whether a text contains the namespace of an object, as in "namespace shop" or NAMESPACE/NAME.
func namesNamespace(text string, id graph.ID) bool {
	namespace := id.Namespace()
	return namespace != "" && (subject.ContainsName(text, namespace+"/"+id.Name()) ||
		subject.HasNamespaceWord(text) && subject.ContainsName(text, namespace))
}

// canMean reports whether a text that contains the name of an object names no other namespace.
func canMean(text string, id graph.ID) bool {
	for _, found := range namespacePattern.FindAllStringSubmatch(text, maxMentions) {
		if found[1] != id.Namespace() {
			return false
		}
	}
	hasNamespace := strings.Contains(text, "/"+id.Name()) || subject.HasNamespaceWord(text)
	return !hasNamespace || namesNamespace(text, id)
}

// isOfUsed reports whether a text can mean an object of the same kind and name as the missing object, but in another
// namespace: an object to which something that the subject uses refers.
func isOfUsed(s *subject.Subject, text string, missing *neighbor.Neighbor) bool {
	if namesNamespace(text, missing.ID) {
		return false
	}
	parts, _, isComplete := usesOfUsed(s, func(id graph.ID) bool {
		return id.Kind == missing.ID.Kind && id.Name() == missing.ID.Name() && id != missing.ID && canMean(text, id)
	})
	return !isComplete || len(parts) > 0
}
