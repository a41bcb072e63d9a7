package subject

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// statusReferences returns the objects to which a status refers, such as status.lastPromotion: {name: a}. If the
// reference contains no kind, the kind is the name of the member without words such as "last", and IsWord is true.
func statusReferences(o neighbor.Object) (found []neighbor.Mention) {
	status := neighbor.Decode[struct {
		Status map[string]any `json:"status"`
	}](o).Status
	for _, key := range slices.Sorted(maps.Keys(status)) {
		value, _ := status[key].(map[string]any)
		text := func(member string) string { text, _ := value[member].(string); return text }
		if text("name") == "" || len(found) == neighbor.Limit {
			continue
		}
		group, _, _ := strings.Cut(text("apiVersion"), "/")
		found = append(found, neighbor.Mention{
			Kind: cmp.Or(text("kind"), kindOf(key)), IsWord: text("kind") == "",
			Group: cmp.Or(group, text("group"), text("apiGroup")), Namespace: text("namespace"), Name: text("name"),
		})
	}
	return found
}

// kindOf returns the word in the name of a member that can be a kind: "Promotion" for lastPromotion and promotionRef.
func kindOf(member string) string {
	word := strings.TrimSuffix(strings.TrimSuffix(member, "Reference"), "Ref")
	for _, prefix := range []string{"last", "latest", "current", "active"} {
		if rest, ok := strings.CutPrefix(word, prefix); ok && rest != "" && unicode.IsUpper(rune(rest[0])) {
			return rest
		}
	}
	return word
}

// StatusObjects returns the objects to which the status of a subject refers, if the subject also names them in its
// reason, in its sentence, or in a condition that is not True. It omits missing objects, because a status can be out of
// date.
func StatusObjects(s *Subject) (found []neighbor.Neighbor) {
	for _, m := range statusReferences(s.Object) {
		for _, n := range s.Named(s.ID, &m) {
			isMeant := n.ID != s.ID && n.Object != nil && strings.EqualFold(n.ID.Kind.Kind, m.Kind)
			if isMeant && complainsAbout(&s.Neighbor, n.ID) {
				found = append(found, n)
			}
		}
	}
	return found
}

// complainsAbout reports whether the problem of an object is about another object. Its reason, its sentence, or a
// condition with the same reason or message must contain the kind or the name of the other object. Any other condition
// that is not True must contain both. Without such a text, the other object, such as a failed last run, is possibly
// unrelated to the problem, or a consequence of it.
func complainsAbout(n *neighbor.Neighbor, id graph.ID) bool {
	own := n.Object.Verdict().Own().Unpack()
	names := func(text string) (kind, name bool) {
		if strings.Contains(n.ID.Kind.Kind, id.Kind.Kind) { // The word BackupSchedule does not name the kind Backup.
			text = strings.ReplaceAll(text, n.ID.Kind.Kind, "")
		}
		return ContainsKind(text, id.Kind.Kind), ContainsName(text, id.Name())
	}
	if kind, name := names(own.Reason + ": " + own.Sentence); kind || name {
		return true
	}
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		for _, c := range neighbor.Conditions(n.Object, status) {
			isOwn := c.Reason != "" && c.Reason == own.Reason ||
				c.Message != "" && strings.HasSuffix(own.Sentence, c.Message)
			kind, name := names(c.Type + ": " + c.Reason + ": " + c.Message)
			if kind && name || isOwn && (kind || name) {
				return true
			}
		}
	}
	return false
}

// ContainsKind reports whether a text contains a kind as a complete word, also within a name in CamelCase: the reason
// LastPromotionErrored contains Promotion.
func ContainsKind(text, kind string) bool {
	parts := strings.Split(text, kind)
	return slices.ContainsFunc(parts[1:], func(after string) bool {
		after = strings.TrimPrefix(after, "s")
		return after == "" || !unicode.IsLower(rune(after[0]))
	})
}

// ContainsName reports whether a text contains a name as a complete word. A name before a slash is a namespace, and
// does not count.
func ContainsName(text, name string) bool {
	isPart := func(c byte) bool {
		return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for start := 0; ; {
		at := strings.Index(text[start:], name)
		if at < 0 {
			return false
		}
		at += start
		end := at + len(name)
		if (at == 0 || !isPart(text[at-1])) && (end == len(text) || !isPart(text[end]) && text[end] != '/') {
			return true
		}
		start = at + 1
	}
}

// refersTo reports whether the status of n refers to the object id, and complains about this object.
func refersTo(n *neighbor.Neighbor, id graph.ID) bool {
	return complainsAbout(n, id) && slices.ContainsFunc(statusReferences(n.Object), func(m neighbor.Mention) bool {
		return m.Name == id.Name() && strings.EqualFold(m.Kind, id.Kind.Kind) &&
			cmp.Or(m.Namespace, n.ID.Namespace()) == cmp.Or(id.Namespace(), n.ID.Namespace())
	})
}

// namespaceWord matches the word that precedes or follows a namespace in a message.
var namespaceWord = regexp.MustCompile(`(?i)\b(namespaces?|ns)\b`)

// HasNamespaceWord reports whether a text contains the word that precedes or follows a namespace in messages, such as
// "ns" or "namespace". If so, the text probably names a namespace.
func HasNamespaceWord(text string) bool { return namespaceWord.MatchString(text) }
