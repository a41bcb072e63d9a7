package operator

import (
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/admission"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/operator/rival"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/operator/sibling"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// wrongObject returns the object because of which the subject has a problem, according to a sentence, or nil. The
// object can be healthy, but unsuitable for the subject. It can also be missing.
func wrongObject(s *subject.Subject, sentence string) *verdict.Cause {
	if sentence != s.Own.Sentence {
		if c := admission.Denial(s, sentence); c != nil {
			return c
		}
	}
	for _, find := range []func(*subject.Subject, string) *neighbor.Neighbor{
		denying, reserved, rival.Find, taken, unfit, setting, refusedSecret, sibling.Parent,
	} {
		if n := find(s, sentence); n != nil {
			return &verdict.Cause{Object: neighbor.ObjectOf(n), Sentence: sentence}
		}
	}
	if c := sibling.Surplus(s, sentence); c != nil {
		return c
	}
	for _, find := range []func(*subject.Subject, string) *neighbor.Neighbor{
		credentials, unmatched, elsewhere, onlyOfKind,
	} {
		if n := find(s, sentence); n != nil {
			c := s.MissingCause(n)
			c.Sentence = subject.Sentences(sentence, c.Sentence)
			return c
		}
	}
	return nil
}

const quote = "[\"'`]"

// denialPattern matches a message that an object does not permit something, with the kind and the name of this object.
// For example: `repository a is not permitted in project 'shop'`.
var denialPattern = regexp.MustCompile(`(?i)(?:\bnot|n't) (?:permitted|allowed|accepted|match any of the ` +
	`(?:permitted|allowed|accepted) [a-z]+) (?:in|by|for|to use) (?:the )?([a-z]+) ` + quote + `?([a-z0-9][a-z0-9.-]*)`)

// denying returns the object to which the subject refers, and which does not permit what the subject does, or nil.
func denying(s *subject.Subject, sentence string) *neighbor.Neighbor {
	found := denialPattern.FindStringSubmatch(sentence)
	if found == nil {
		return nil
	}
	for _, n := range referenced(s) {
		if n.Object != nil && n.ID.Name() == strings.TrimRight(found[2], ".-") && endsWithWord(n.ID.Kind.Kind, found[1]) {
			return &n
		}
	}
	return nil
}

// reservedPattern matches a message that an object may not be used in a namespace, with the kind and the name of this
// object. For example: `using cluster store "shared" is not allowed from namespace "shop"`.
var reservedPattern = regexp.MustCompile(`(?i)\b([a-z]+) ` + quote + `([a-z0-9][a-z0-9.-]*)` + quote +
	` is not (?:permitted|allowed) (?:from|in) (?:the )?namespace\b`)

// reserved returns the cluster-scoped object to which the subject refers, and which only other namespaces may use, or
// nil.
func reserved(s *subject.Subject, sentence string) *neighbor.Neighbor {
	found := reservedPattern.FindStringSubmatch(sentence)
	if found == nil {
		return nil
	}
	for _, n := range referenced(s) {
		isNamed := n.ID.Name() == found[2] && endsWithWord(n.ID.Kind.Kind, found[1])
		if n.Object != nil && isNamed && n.ID.Namespace() == "" {
			return &n
		}
	}
	return nil
}

// endsWithWord reports whether a kind is equal to a word or ends with it: AppProject ends with project.
func endsWithWord(kind, word string) bool {
	start := len(kind) - len(word)
	return start >= 0 && strings.EqualFold(kind[start:], word) && kind[start] >= 'A' && kind[start] <= 'Z'
}

// takenPattern matches a message that an object already exists, with the words of its kind, but without its name. Its
// namespace can precede these words. For example: `shop: external secret already exists in namespace`.
var takenPattern = regexp.MustCompile(
	`(?:\b([a-z0-9-]+): )?\b([A-Za-z]+(?: [A-Za-z]+){0,2}) already exists in (?:the )?namespace\b`)

// taken returns an object of another owner that prevents the subject from creating an object of the same name, or nil.
// By convention, a member such as externalSecretName in the spec of the subject contains this name.
func taken(s *subject.Subject, sentence string) *neighbor.Neighbor {
	found := takenPattern.FindStringSubmatch(sentence)
	if found == nil {
		return nil
	}
	kind, name := strings.ReplaceAll(found[2], " ", ""), ""
	for member, value := range neighbor.Decode[struct {
		Spec map[string]any `json:"spec"`
	}](s.Object).Spec {
		if text, ok := value.(string); ok && strings.EqualFold(member, kind+"Name") {
			name = text
		}
	}
	if name == "" {
		return nil
	}
	for _, n := range s.Named(s.ID, &neighbor.Mention{Kind: kind, Group: s.ID.Group, Namespace: found[1], Name: name}) {
		if n.Object != nil && !n.IsOwnedBy(s.Object.UID()) {
			return &n
		}
	}
	return nil
}

var (
	// unfitPattern matches a message that an object, of which it contains only the kind, is of a wrong type or lacks a
	// part.
	unfitPattern = regexp.MustCompile(`(?i)\b(?:unsupported|invalid|wrong|incorrect|unexpected) ([a-z]+) type\b|` +
		`\b([a-z]+) type (?:is )?(?:not supported|unsupported|invalid)\b|` +
		`\b([a-z]+)(?: object| resource)? (?:lacks|` +
		`(?:has|is of) an? (?:unsupported|invalid|wrong|incorrect|unexpected) type|` +
		`(?:does not|doesn't) (?:contain|have|define|declare|include|enable))\b`)
	// elsewherePattern matches an error of a server, which an object of the cluster rarely causes.
	elsewherePattern = regexp.MustCompile(`(?i)\b(?:connect|connection|time(?:d )?out|deadline|unreachable|dial|denied|` +
		`forbidden|unauthorized|status code|x509)\b`)
)

// unfit returns the object that the subject needs, and that is of a wrong type or lacks a part, or nil. The sentence
// contains only the kind of the object, so the subject must refer to exactly one object of this kind.
func unfit(s *subject.Subject, sentence string) *neighbor.Neighbor {
	found := unfitPattern.FindStringSubmatch(sentence)
	if found == nil || elsewherePattern.MatchString(sentence) {
		return nil
	}
	kind := found[1] + found[2] + found[3] // Only one of them is not empty.
	isOther := func(n neighbor.Neighbor) bool { return !strings.EqualFold(n.ID.Kind.Kind, kind) }
	candidates := slices.DeleteFunc(referenced(s), isOther)
	if len(candidates) == 0 {
		candidates = labeled(s, kind)
	}
	if len(candidates) != 1 || candidates[0].Object == nil || candidates[0].ID.Kind == s.ID.Kind {
		return nil
	}
	uses, _ := s.References(s.ID)
	isOutput := slices.ContainsFunc(uses, func(u graph.Use) bool { return u.Target == candidates[0].ID && u.Optional })
	if isOutput || candidates[0].IsOwnedBy(s.Object.UID()) {
		return nil // The controller of the subject writes this object, or works without it.
	}
	return &candidates[0]
}

// referenced returns the objects to which the spec of the subject refers, each of them once. They can be missing.
func referenced(s *subject.Subject) (found []neighbor.Neighbor) {
	for n := range s.Used(nil) {
		found = append(found, n)
	}
	for _, n := range mention.Referenced(s) {
		if !contains(found, n.ID) {
			found = append(found, n)
		}
	}
	return found
}

func contains(list []neighbor.Neighbor, id graph.ID) bool {
	return slices.ContainsFunc(list, func(n neighbor.Neighbor) bool { return n.ID == id })
}

// labeled returns the objects of a kind that a label of the subject names. The key of such a label starts with a domain
// of the subject's group: "strimzi.io/cluster: events" in a resource of the group kafka.strimzi.io.
func labeled(s *subject.Subject, kind string) (found []neighbor.Neighbor) {
	for _, value := range domainLabels(&s.Neighbor, s.ID.Group) {
		for _, n := range s.Named(s.ID, &neighbor.Mention{Kind: kind, Group: s.ID.Group, Name: value}) {
			if n.Object != nil && !contains(found, n.ID) {
				found = append(found, n)
			}
		}
	}
	return found
}
