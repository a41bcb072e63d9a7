package subject

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// statusReferences returns the objects to which a status refers, such as status.lastPromotion: {name: a}. The kind is
// that of the reference, or the name of the member without words such as "last" (then IsWord is true).
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

// StatusObjects returns the objects to which the status of a subject refers, and which its reason, its sentence or a
// condition that is not True names. It omits missing objects, because a status can be out of date.
func StatusObjects(s *Subject) (found []neighbor.Neighbor) {
	for _, m := range statusReferences(s.Object) {
		for _, n := range s.Named(s.ID, &m) {
			isMeant := n.ID != s.ID && n.Object != nil && strings.EqualFold(n.ID.Kind.Kind, m.Kind)
			if isMeant && complainsAbout(s.Object, n.ID) {
				found = append(found, n)
			}
		}
	}
	return found
}

// complainsAbout reports whether the reason, the sentence or a condition of an object names the kind or the name of
// another object. Without such a text, a failed last run is possibly no problem, or a consequence of the problem.
func complainsAbout(o neighbor.Object, id graph.ID) bool {
	own := o.Verdict().Own().Unpack()
	texts := []string{own.Reason, own.Sentence}
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		for _, c := range neighbor.Conditions(o, status) {
			texts = append(texts, c.Type, c.Reason, c.Message)
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, id.Kind.Kind) || strings.Contains(text, id.Name())
	})
}

// refersTo reports whether the status of an object refers to another object, and complains about it.
func refersTo(n *neighbor.Neighbor, id graph.ID) bool {
	return complainsAbout(n.Object, id) && slices.ContainsFunc(statusReferences(n.Object), func(m neighbor.Mention) bool {
		return m.Name == id.Name() && strings.EqualFold(m.Kind, id.Kind.Kind) &&
			cmp.Or(m.Namespace, n.ID.Namespace()) == cmp.Or(id.Namespace(), n.ID.Namespace())
	})
}
