package api

import (
	"slices"
	"strings"

	autoscaling "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// WithoutSelector explains an autoscaler that finds no label selector in the scale of its target: the CRD of the target
// defines no path of the selector, or the target has no text at this path.
func WithoutSelector(s *subject.Subject) *verdict.Verdict {
	isAboutSelector := func(c metav1.Condition) bool {
		return c.Reason == "InvalidSelector" && strings.Contains(c.Message, "missing a selector")
	}
	if !slices.ContainsFunc(neighbor.Conditions(s.Object, metav1.ConditionFalse), isAboutSelector) {
		return nil
	}
	ref := neighbor.Decode[autoscaling.HorizontalPodAutoscaler](s.Object).Spec.ScaleTargetRef
	_, used, _ := strings.Cut(ref.APIVersion, "/")
	for target := range s.Used(subject.In("spec.scaleTargetRef")) {
		n := definitionOf(s, target.ID.Kind)
		versions := neighbor.Decode[definition](n.Object).Spec.Versions
		at := slices.IndexFunc(versions, func(v version) bool { return v.Name == used })
		if target.Object == nil || at < 0 || versions[at].Subresources.Scale == nil {
			continue
		}
		subject.Follow(s, &n)
		path := versions[at].Subresources.Scale.LabelSelectorPath
		switch {
		case path == "":
			return s.ExplainBy(&n, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, n.String()+
				" sets no labelSelectorPath in its scale subresource, so the autoscaler cannot find the pods of "+target.String()))
		case textAt(&target, path) == "":
			s.AddSource(n.Resource, "")
			return s.ExplainBy(&target, s.Own.Severity, s.Own.Reason,
				subject.Sentences(s.Own.Sentence, target.String()+" has no label selector in "+path))
		}
	}
	return nil
}

// textAt returns the text at a path such as ".status.selector" of an object, or "".
func textAt(n *neighbor.Neighbor, path string) string {
	value := any(neighbor.Decode[map[string]any](n.Object))
	for member := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		child, _ := value.(map[string]any)
		value = child[member]
	}
	text, _ := value.(string)
	return text
}
