package mention

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// target is an object to which a custom resource refers by a convention.
type target struct {
	neighbor.Neighbor

	by *objectrefs.Convention
	// isSure is true if the member can only mean this object. For example, clusterRef is sure if the group of the custom
	// resource has the kind Cluster. The member queue is not sure if LocalQueue is the only similar kind of the group.
	isSure bool
}

// MissingUse returns the missing object to which a custom resource refers, or nil. Of several missing objects, it
// prefers one that a message of the resource names. If the resource has a status, but neither a verdict of its own nor
// a message about an error, MissingUse ignores members named ref, and members that contain only a name, such as
// secretName: the controller of the resource possibly does not need these objects.
func MissingUse(s *subject.Subject) *neighbor.Neighbor {
	if s.Own.Severity == verdict.OK {
		return nil
	}
	isCalm := s.Own.Severity == verdict.None && hasStatus(s) && len(messages(s)) == 0
	var first *neighbor.Neighbor
	canMiss := func(u *graph.Use) bool {
		isName := strings.HasSuffix(u.Via, "Name")
		isIgnored := isCalm && (isName || strings.HasSuffix(u.Via, ".ref"))
		return !u.Optional && !isIgnored && (!isName || !isPath(s, u))
	}
	for n := range s.Used(canMiss) {
		isKnown := n.Resource != "" || s.Own.Severity.IsProblem()
		if n.Presence != neighbor.Missing || !isKnown {
			continue
		}
		if IsNamed(s, &n) {
			return &n
		}
		if first == nil {
			first = &n
		}
	}
	return first
}

// isPath reports whether a name with a slash, such as team/db, is possibly a path in a system outside the cluster. This
// is the case if the namespace (team) does not exist, so that the name cannot mean an object of another namespace.
func isPath(s *subject.Subject, u *graph.Use) bool {
	namespace := u.Target.Namespace()
	return namespace != s.ID.Namespace() && !remains(s, namespace)
}

// IsNamed reports whether a message of the subject contains the name of an object.
func IsNamed(s *subject.Subject, n *neighbor.Neighbor) bool {
	return slices.ContainsFunc(messages(s), func(text string) bool { return subject.ContainsName(text, n.ID.Name()) })
}

// MissingReference explains a custom resource by a missing object to which its spec refers by a convention. A message
// must name this object. If mustName is false, a sure reference needs no message in two cases: the resource has a
// verdict of its own and has not ended, or it has no status and the member contains only the reference. A list of names
// needs a message if the resource reports an error.
func MissingReference(s *subject.Subject, mustName bool) *verdict.Verdict {
	if s.Own.Severity == verdict.OK {
		return nil
	}
	texts := messages(s)
	var include func(*objectrefs.Convention) bool
	if s.Own.Severity == verdict.None && len(texts) == 0 {
		if hasStatus(s) {
			return nil
		}
		include = isBare
	}
	for _, t := range targets(s, include) {
		isNamed := isNamedMissing(s, &t, texts)
		isMissing := isNamed || !mustName && needsNoMessage(s, &t)
		if t.Presence == neighbor.Missing && isMissing && !isSuspended(s) {
			v := s.ReportMissing(&t.Neighbor, verdict.Degraded)
			if isNamed && s.Own.Sentence != "" {
				v.Reason, v.Sentence = s.Own.Reason, s.Own.Sentence+": "+v.Sentence
			}
			return v
		}
	}
	return nil
}

// needsNoMessage reports whether a missing target is a problem although no message names it.
func needsNoMessage(s *subject.Subject, t *target) bool {
	isKnown := t.isSure && (s.Own.Severity != verdict.None || isBare(t.by) && !hasStatus(s))
	// The subject can create the objects of a list of names. Then they are missing because of its own error.
	isCreated := !t.by.IsObject && wording.NamesError(s.Own.Sentence)
	return isKnown && !isCreated && !subject.IsComplete(&s.Neighbor)
}

// isNamedMissing reports whether one of the texts is about a missing target: it states that something is missing, and
// contains the name or the kind of the target; or it contains the name, and the subject has a problem.
func isNamedMissing(s *subject.Subject, t *target, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		isMissing := wording.NamesMissing(text) || missingReason.MatchString(text)
		return namesTarget(text, t) && (isMissing || s.Own.Severity.IsProblem()) || isMissing && namesKind(text, t.ID)
	})
}

// ReferenceProblem explains a custom resource by the problem of an object to which its spec refers by a convention. If
// the resource has no verdict of its own, only objects that a False condition mentions by name or by kind are
// considered.
func ReferenceProblem(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity == verdict.OK {
		return nil
	}
	var texts []string
	if s.Own.Severity == verdict.None {
		if texts = messages(s); len(texts) == 0 {
			return nil
		}
	}
	var candidates []neighbor.Neighbor
	for _, t := range targets(s, nil) {
		isNamed := slices.ContainsFunc(texts, func(text string) bool {
			return namesTarget(text, &t) || namesKind(text, t.ID)
		})
		if (s.Own.Severity != verdict.None || isNamed) && !s.IsDependent(t.Neighbor) {
			candidates = append(candidates, t.Neighbor)
		}
	}
	if worst := s.Worst(candidates); worst != nil {
		s.AddSource(worst.Resource, worst.ID.Namespace())
		return s.Inherit(worst, verdict.Degraded, worst.String()+": ")
	}
	return nil
}

// MissingPart explains a problem by a missing object that the subject's sentence names. Another object that the subject
// uses must refer to the missing object. For example, a composite resource uses a composition, which calls a missing
// function.
func MissingPart(s *subject.Subject) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	text := subject.CompleteSentence(s)
	if v := missingUseOfUsed(s, text); v != nil {
		return v
	}
	isInText := func(c *objectrefs.Convention) bool { return subject.ContainsName(text, c.Name) }
	known := slices.DeleteFunc(targets(s, nil), func(t target) bool { return t.Object == nil || !t.isSure })
	for _, used := range known[:min(len(known), maxMentions)] {
		for _, part := range targets(subject.New(s.Cluster, used.Neighbor), isInText) {
			if !part.isSure || part.Presence != neighbor.Missing || !namesTarget(text, &part) || !namesKind(text, part.ID) {
				continue
			}
			s.AddSource(used.Resource, used.ID.Namespace())
			cause := s.MissingCause(&part.Neighbor)
			sentence := subject.Sentences(s.Own.Sentence, cause.Sentence+", but "+used.String()+" refers to it")
			return s.Explain(verdict.Degraded, s.Own.Reason, sentence, cause)
		}
	}
	return nil
}

// Referenced returns the objects to which a custom resource refers by a convention. They can be missing.
func Referenced(s *subject.Subject) (found []neighbor.Neighbor) {
	for _, t := range targets(s, nil) {
		found = append(found, t.Neighbor)
	}
	return found
}

// targets returns the objects to which a custom resource refers by a convention. It omits references that can mean
// several objects, and those for which include returns false. A nil include accepts all.
func targets(s *subject.Subject, include func(*objectrefs.Convention) bool) (found []target) {
	conventions := objectrefs.Conventions(s.Text())
	for n := range conventions {
		c := &conventions[n]
		if include != nil && !include(c) {
			continue
		}
		candidates := s.Named(s.ID, &neighbor.Mention{
			Kind: cmp.Or(c.Kind, c.Word), Group: c.Group, Namespace: c.Namespace, Name: c.Name, IsWord: true,
			IsRef: c.IsRef && c.Kind == "",
		})
		t := likeliest(s, c, candidates)
		// An uncertain reference to the resource's own kind is ignored: bucketName in a Bucket is the name of the
		// bucket itself.
		if t != nil && t.ID != s.ID && (t.isSure || t.ID.Kind != s.ID.Kind) {
			found = append(found, *t)
		}
	}
	return found
}

// likeliest returns the object that a reference means: the only candidate that is not missing or, if all candidates are
// missing, the first one. It returns nil if it is not certain which candidate is meant.
func likeliest(s *subject.Subject, c *objectrefs.Convention, candidates []neighbor.Neighbor) *target {
	var present []neighbor.Neighbor
	for n := range candidates {
		if candidates[n].Presence != neighbor.Missing {
			present = append(present, candidates[n])
		}
	}
	switch {
	case len(present) == 1:
		return &target{present[0], c, isSure(s, c, &present[0])}
	case len(present) == 0 && len(candidates) > 0:
		t := &target{candidates[0], c, isSure(s, c, &candidates[0])}
		if t.isSure || len(candidates) == 1 && !neighbor.IsRelated(s.ID, cmp.Or(c.Kind, c.Word), candidates[0].ID.Kind) {
			return t
		}
	}
	return nil
}

// isSuspended reports whether the subject does nothing on purpose, so that it needs no other objects.
func isSuspended(s *subject.Subject) bool {
	return s.Own.Severity == verdict.None && symptom.IsSuspended(neighbor.Decode[map[string]any](s.Object))
}

// isBare reports whether a member contains only a reference, and the reference does not include the kind.
func isBare(c *objectrefs.Convention) bool { return c.IsPlain && c.Kind == "" }

// hasStatus reports whether a controller has written a status. Such a controller would report a missing object in the
// status. If the status contains no such report, the name possibly belongs to an object outside the cluster.
func hasStatus(s *subject.Subject) bool {
	return bytes.Contains(s.Text(), []byte(`"status":{`)) &&
		!bytes.Contains(s.Text(), []byte(`"status":{}`))
}

// isSure reports whether the member c of the subject can only mean the object n.
func isSure(s *subject.Subject, c *objectrefs.Convention, n *neighbor.Neighbor) bool {
	plural := n.Resource[strings.LastIndexByte(n.Resource, '/')+1:]
	word := cmp.Or(c.Kind, c.Word)
	canBeSure := c.Kind != "" || n.ID.Group != "" // A member named secret can also contain the secret value itself.
	isExact := canBeSure && (strings.EqualFold(word, n.ID.Kind.Kind) || strings.EqualFold(word, plural))
	isNames := !c.IsObject && c.IsPlain && isCompound(n.ID.Kind.Kind) // A list of names, as in ipAddressPools: [public].
	return isExact && (c.IsObject || isNames) && (c.IsRef || c.IsPlain && n.ID.Group == s.ID.Group)
}

// messages returns the subject's sentence. If the subject has no verdict of its own, it also returns the reasons and
// messages of the conditions that are False.
func messages(s *subject.Subject) (texts []string) {
	if s.Own.Sentence != "" {
		texts = append(texts, s.Own.Sentence)
	}
	if s.Own.Severity != verdict.None || !bytes.Contains(s.Text(), []byte(`"status":"False"`)) {
		return texts
	}
	for _, c := range neighbor.Conditions(s.Object, metav1.ConditionFalse) {
		if !wording.IsBadIfTrue(c.Type) && len(texts) < maxTexts {
			texts = append(texts, message.Line(c.Reason+": "+c.Message, maxText))
		}
	}
	return texts
}

// maxTexts and maxText limit the messages that are searched for names, because an object can have 1 MB of them.
const maxTexts, maxText = 20, 1000

// missingReason matches the reason of a condition that is False because an object is missing.
var missingReason = regexp.MustCompile(`(NotFound|NotExist|Missing)\b|\b(Missing|No)[A-Z]`)

// namesTarget reports whether a text contains the name of a target. A name without a hyphen is possibly an ordinary
// word, so the text must also contain the target's kind or the member that refers to it.
func namesTarget(text string, t *target) bool {
	lower := strings.ToLower(text)
	return subject.ContainsName(text, t.ID.Name()) && (strings.Contains(t.ID.Name(), "-") ||
		strings.Contains(lower, strings.ToLower(t.by.Word)) || strings.Contains(lower, strings.ToLower(t.ID.Kind.Kind)))
}

// reasonAboutKind matches a reason that starts with the kind of a missing object, such as SecretNotFound.
var reasonAboutKind = regexp.MustCompile(
	`\b([A-Z][A-Za-z]*?)(?:Is|Does)?(?:NotFound|NotExist|Missing|(?:Decision)?Empty)\b`)

// namesKind reports whether a text contains the kind of an object, also within a longer word (GatewayClassNotFound).
func namesKind(text string, id graph.ID) bool {
	kind, lower := strings.ToLower(id.Kind.Kind), strings.ToLower(text)
	isInReason := func(found []string) bool { return found[1] == id.Kind.Kind }
	return subject.ContainsName(lower, kind) ||
		slices.ContainsFunc(reasonAboutKind.FindAllStringSubmatch(text, maxMentions), isInReason) ||
		isCompound(id.Kind.Kind) && strings.Contains(lower, kind)
}

// isCompound reports whether a kind consists of several words.
func isCompound(kind string) bool { return strings.ContainsFunc(kind[1:], unicode.IsUpper) }
