package admission

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// limitPattern matches the message of the API server about a limit of a LimitRange, such as "maximum cpu usage per
// Container is 1" or "cpu max limit to request ratio per Container is 4". The groups capture the word maximum or
// minimum, the resource (one of two groups), the type and the value of the limit.
var limitPattern = regexp.MustCompile(
	`(?:(maximum|minimum) ([A-Za-z0-9./-]+) usage|([A-Za-z0-9./-]+) max limit to request ratio) ` +
		`per (Container|Pod|PersistentVolumeClaim) is (\d+(?:\.\d+)?\w*)`)

// limitFailure explains a message about a limit by the LimitRange of the namespace that has this limit. If several have
// it, or if there are possibly more, the verdict names none of them.
func limitFailure(s *subject.Subject, message string) *verdict.Verdict {
	found := limitPattern.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	ranges, isComplete := subject.AllOf(s, graph.Kind{Kind: "LimitRange"}, s.ID.Namespace(), neighbor.Limit)
	ranges = slices.DeleteFunc(ranges, func(n neighbor.Neighbor) bool { return !hasLimit(&n, found) })
	if len(ranges) == 0 {
		return nil // The LimitRange was changed or deleted after the failure.
	}
	sentence := " rejected a new object: " + strings.TrimSpace(message[strings.Index(message, found[0]):])
	if len(ranges) > 1 || !isComplete {
		s.AddSource(ranges[0].Resource, s.ID.Namespace()) // Any of them can be the cause.
		return s.Explain(verdict.Failed, "LimitRange", "A LimitRange"+sentence, nil)
	}
	subject.Follow(s, &ranges[0])
	return s.ExplainBy(&ranges[0], verdict.Failed, "LimitRange", ranges[0].String()+sentence)
}

// hasLimit reports whether a LimitRange has the limit in a match of limitPattern.
func hasLimit(n *neighbor.Neighbor, found []string) bool {
	value, err := resource.ParseQuantity(found[5])
	if err != nil {
		return false
	}
	items := neighbor.Decode[corev1.LimitRange](n.Object).Spec.Limits
	return slices.ContainsFunc(items, func(item corev1.LimitRangeItem) bool {
		limits := item.MaxLimitRequestRatio
		switch found[1] {
		case "maximum":
			limits = item.Max
		case "minimum":
			limits = item.Min
		}
		limit, ok := limits[corev1.ResourceName(found[2]+found[3])]
		return ok && string(item.Type) == found[4] && limit.Cmp(value) == 0
	})
}
