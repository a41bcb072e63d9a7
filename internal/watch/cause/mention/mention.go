// Package mention explains objects by other objects that messages of the API server, the kubelet and controllers name.
package mention

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxMentions is the maximum number of objects to search for per message. A message can name more objects.
const maxMentions = 5

const (
	kindWords  = `(?:([A-Za-z]+) )?([A-Za-z]+(?:-[A-Za-z]+)*)(?:\.([a-z0-9.-]+))?`
	objectName = `["'` + "`" + `]?(?:([a-z0-9][a-z0-9-]*)/)?([a-z0-9][a-z0-9.-]*)["'` + "`" + `]?`
	// inNamespace matches words such as "in namespace shop", which follow the name of an object in some messages.
	inNamespace = `(?: in (?:the )?(?:namespace|ns) ["'` + "`" + `]?([a-z0-9-]+)["'` + "`" + `]?)?`
)

var (
	// missingPattern matches the kind (one or two words) and the name of an object, and then words that mean "missing".
	// For example: `device class gpu does not exist` or `project payments, which does not exist`.
	missingPattern = regexp.MustCompile(kindWords + `([ /])` + objectName +
		`(?:,? (?:which|that))?` + inNamespace + ` (?:(?:was |were |is |are )?not found|` +
		`(?:could not|cannot|can't|couldn't) be found|is missing|(?:does not|doesn't|do not|don't) exist|no longer exists)` +
		inNamespace)
	// missingPrefix matches words that mean "missing", and then the kind and the name of an object. For example:
	// `references missing ResourceFlavor(s): gpu` or `unable to find secret db`.
	missingPrefix = regexp.MustCompile(`(?i:\b(?:missing|non-?existent|no such|unknown|` +
		`(?:cannot|can't|could not|couldn't|unable to|failed to|did not|didn't) (?:find|locate)) ` +
		`(?:(?:the|any|a|an|referenced) )*)` + kindWords +
		`((?:\(s\))?(?:: ?| (?:named |with name |called )?|/))` + objectName + inNamespace)
	// missingKind matches a kind, then words that mean "missing", and then the name of the object. For example:
	// `Referenced gateway not found: "public"`.
	missingKind = regexp.MustCompile(kindWords +
		`(["'` + "`" + `]? (?:not found|does not exist|is missing)(?:: ?| named ))` + objectName + `$`)
	// kindAfterName and kindOfVersion match other forms of a kind with its group: `"shop, Group/Kind: example.com/Widget"`
	// and `example.com/v1, Kind=Widget shop`.
	kindAfterName = regexp.MustCompile(`"?\b([a-z0-9][a-z0-9./-]*), Group/Kind: ?([a-z0-9.-]+)/([A-Za-z]+)"?`)
	kindOfVersion = regexp.MustCompile(`"?\b([a-z0-9][a-z0-9.-]*)/v[a-z0-9]+, Kind=([A-Za-z]+)"?[ ,:]+`)
	// namespacePattern matches a namespace in a message.
	namespacePattern = regexp.MustCompile(`\bin (?:the )?namespace ["'(` + "`" + `]?([a-z0-9-]+)`)
	// objectPattern matches the kind and the name of an object in a message, such as "Deployment/shop/api",
	// "ResourceFlavor(s): gpu" or "Service resource web in namespace shop".
	objectPattern = regexp.MustCompile(`\b()([A-Z][A-Za-z]+)(?:\(s\))?(?:\.([a-z0-9.-]+))?( resource |[ /]|: )` +
		objectName + inNamespace)
	// remainingPattern matches a resource in the condition of a namespace, such as "widgets.example.com has 1 resource
	// instances".
	remainingPattern = regexp.MustCompile(`([a-z0-9-]+)\.([a-z0-9.-]*) has \d+ resource instances`)
)

// Object explains a problem of the subject: an object that its messages name is missing or has a problem.
func Object(s *subject.Subject) *verdict.Verdict {
	if v := MissingObject(s); v != nil {
		return v
	}
	for _, text := range messages(s) {
		for _, found := range objectPattern.FindAllStringSubmatch(text, maxMentions) {
			candidates := s.Named(s.ID, mentionOf(found, found[2]))
			for n := range candidates {
				if c := &candidates[n]; c.ID != s.ID && !s.IsDependent(*c) && s.HasProblem(c) {
					return namedProblem(s, c)
				}
			}
		}
	}
	return nil
}

// namedProblem explains the subject by an object that has a problem and that the subject's message names.
func namedProblem(s *subject.Subject, n *neighbor.Neighbor) *verdict.Verdict {
	s.AddSource(n.Resource, n.ID.Namespace())
	v := s.Inherit(n, verdict.Degraded, n.String()+": ")
	if s.Own.Severity.IsProblem() {
		v.Reason, v.Sentence = s.Own.Reason, s.Own.Sentence
	}
	return v
}

// MissingObject explains a problem by a missing object that the subject's sentence names.
func MissingObject(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	patterns := []*regexp.Regexp{missingPattern, missingPrefix, missingKind}
	if !resource.IsCustom(s.ID.Group) {
		patterns = patterns[:1] // The other patterns also match "no such image", but an image is not an object.
	}
	missing := firstMissing(s, s.Own.Sentence, patterns)
	if missing == nil || missing.ID.Namespace() != "" && isOfUsed(s, s.Own.Sentence, missing) {
		return nil
	}
	return s.Explain(verdict.Degraded, s.Own.Reason, s.Own.Sentence, s.MissingCause(missing))
}

// MissingCause returns, as a cause, the object that an event about the subject names as missing. It returns nil if
// there is none. The message can name the namespace in another place, as in `failed to find the secret csi in the
// namespace ceph with error: secrets "csi" not found`.
func MissingCause(s *subject.Subject, message string) *verdict.Cause {
	missing := firstMissing(s, message, []*regexp.Regexp{missingPattern})
	if missing == nil {
		return nil
	}
	found := namespacePattern.FindStringSubmatch(message)
	if id := missing.ID; found != nil && id.Namespace() != "" && id.Namespace() != found[1] {
		s.Named(s.ID, &neighbor.Mention{Kind: id.Kind.Kind, Group: id.Group, Namespace: found[1], Name: id.Name()})
		other := s.Find(graph.NewID(id.Kind, found[1], id.Name()))
		if other.Presence != neighbor.Missing {
			return nil
		}
		missing = &other
	}
	return s.MissingCause(missing)
}

// firstMissing returns the missing object that a text names first, or nil.
func firstMissing(s *subject.Subject, text string, patterns []*regexp.Regexp) *neighbor.Neighbor {
	if n := missingTyped(s, text); n != nil {
		return n
	}
	text = kindAfterName.ReplaceAllString(kindOfVersion.ReplaceAllString(text, "$2.$1 "), `$3.$2 "$1"`)
	for _, pattern := range patterns {
		for _, found := range pattern.FindAllStringSubmatch(text, maxMentions) {
			candidates := namedCandidates(s, found)
			if len(candidates) == 0 {
				continue
			}
			// Return an object only if all candidates are missing. If one is present, it was created after the message, or
			// the message means another object. If one is unknown, it can exist, because its kind is not watched.
			if slices.ContainsFunc(candidates, func(n neighbor.Neighbor) bool { return n.Presence != neighbor.Missing }) {
				return nil
			}
			return &candidates[0]
		}
	}
	return nil
}

// namedCandidates returns the objects that a match of a pattern can mean. It tries both words before the name as the
// kind, then only the last one. For a custom resource, a kind of its own group (AppProject for project) is preferred.
func namedCandidates(s *subject.Subject, found []string) []neighbor.Neighbor {
	isQuoted := strings.Contains(found[0], `"`+found[6]) || strings.Contains(found[0], "'"+found[6])
	if !isQuoted && slices.Contains([]string{"resource", "object", "instance", "credentials"}, found[6]) {
		return nil // As in "Plugin resource does not exist": the message contains no name.
	}
	last := found[2][strings.LastIndexByte(found[2], '-')+1:] // The kind: few resource names contain a hyphen.
	kinds := slices.Compact([]string{found[1] + found[2], found[2], last})
	if slices.Contains([]string{"resource", "object", "named", "cluster", "instance", "CR"}, found[2]) && found[1] != "" {
		kinds = append(kinds, found[1]) // The kind is the first word, as in `Kafka cluster "events" not found`.
	}
	if found[1] != "" && found[4] == "/" && found[5] == "" { // As in "Bucket shop/images": shop can be a namespace.
		m := neighbor.Mention{Kind: found[1], Namespace: found[2], Name: mentionOf(found, "").Name}
		if candidates := s.Named(s.ID, &m); len(candidates) > 0 {
			return candidates
		}
	}
	var ofOthers []neighbor.Neighbor
	for _, kind := range kinds {
		candidates := s.Named(s.ID, mentionOf(found, kind))
		if len(candidates) == 0 {
			continue
		}
		group, isOneWord := candidates[0].ID.Group, kind == found[2] || kind == last
		if !isOneWord || group == s.ID.Group || resource.IsBuiltIn(group) {
			return candidates
		}
		ofOthers = candidates
	}
	if resource.IsCustom(s.ID.Group) {
		m := mentionOf(found, last)
		m.IsWord = true
		if candidates := s.Named(s.ID, m); len(candidates) > 0 {
			return candidates
		}
	}
	return ofOthers
}

// mentionOf returns a mention with the given kind. found contains the groups of a match of a pattern with kindWords and
// objectName.
func mentionOf(found []string, kind string) *neighbor.Mention {
	return &neighbor.Mention{
		Kind: kind, Group: found[3], Namespace: cmp.Or(found[5], cmp.Or(found[7:]...)),
		Name: strings.TrimRight(found[6], ".-"),
	}
}

// RemainingKinds returns the kinds of the objects that prevent the deletion of a namespace, according to a message of
// its condition NamespaceContentRemaining.
func RemainingKinds(s *subject.Subject, message string) (kinds []graph.Kind) {
	for _, found := range remainingPattern.FindAllStringSubmatch(message, maxMentions) {
		resource := &neighbor.Mention{
			Kind: found[1], Group: strings.TrimSuffix(found[2], "."), Namespace: s.ID.Name(), Name: "-",
		}
		for _, n := range s.Named(s.ID, resource) {
			kinds = append(kinds, n.ID.Kind)
		}
	}
	return kinds
}
