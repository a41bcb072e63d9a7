package mention

import (
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// kindPattern matches a name in CamelCase of at least two words, such as IPAddressPools.
var kindPattern = regexp.MustCompile(`\b[A-Z][A-Za-z]*[a-z][A-Z][A-Za-z]+\b`)

// Selecting explains the subject by a custom resource that has a problem and selects the subject by its labels, such as
// an address pool for a Service. It tries only the kinds that a False condition of the subject names.
func Selecting(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	for _, c := range neighbor.Conditions(s.Object, metav1.ConditionFalse) {
		for _, word := range kindPattern.FindAllString(c.Message, maxMentions) {
			kinds := s.Named(s.ID, &neighbor.Mention{Kind: word, Name: "-"})
			if len(kinds) == 0 || !resource.IsCustom(kinds[0].ID.Group) {
				continue
			}
			if worst := s.Worst(selecting(s, &kinds[0])); worst != nil {
				return s.Inherit(worst, verdict.Degraded, worst.String()+": ")
			}
		}
	}
	return nil
}

// selecting returns the objects with a label selector that matches the labels of the subject. kind is their kind.
func selecting(s *subject.Subject, kind *neighbor.Neighbor) (found []neighbor.Neighbor) {
	set := labels.Set(neighbor.Decode[metav1.PartialObjectMetadata](s.Object).Labels)
	for _, n := range s.All(kind.ID.Kind, kind.ID.Namespace(), neighbor.Limit) {
		o := neighbor.Decode[struct {
			Spec map[string]any `json:"spec"`
		}](n.Object)
		if !selects(o.Spec, set) {
			continue
		}
		subject.Follow(s, &n)
		found = append(found, n)
	}
	return found
}

// selects reports whether a member of a spec, such as serviceSelector, is a selector that matches a set of labels.
func selects(spec map[string]any, set labels.Set) bool {
	for key, value := range spec {
		member, ok := value.(map[string]any)
		if !ok || !strings.HasSuffix(strings.ToLower(key), "selector") {
			continue
		}
		required, _ := member["matchLabels"].(map[string]any)
		isMatch := len(required) > 0 && member["matchExpressions"] == nil
		for label, text := range required {
			isMatch = isMatch && set[label] == text
		}
		if isMatch {
			return true
		}
	}
	return false
}
