package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// overhead explains why a pod gets no node: its RuntimeClass adds so much overhead that no node, even an empty one, has
// enough of a resource. Without the overhead, the pod would fit, and the overhead is larger than the requests of the
// containers.
func overhead(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	name := ptr.Deref(p.Spec.RuntimeClassName, "")
	if name == "" || len(p.Spec.Overhead) == 0 || !fullPattern.MatchString(rejection(p)) {
		return nil
	}
	for _, of := range slices.Sorted(maps.Keys(p.Spec.Overhead)) {
		added, request := p.Spec.Overhead[of], fit.Request(p, of)
		if added.Cmp(request) <= 0 || !strings.Contains(rejection(p), "Insufficient "+string(of)) {
			continue
		}
		largest := fit.LargestNode(s, p, of)
		total := added.DeepCopy()
		total.Add(request)
		if largest == nil || largest.Cmp(total) >= 0 || largest.Cmp(request) < 0 {
			continue
		}
		class := s.Find(graph.NewID(graph.Kind{Group: "node.k8s.io", Kind: "RuntimeClass"}, "", name))
		subject.Follow(s, &class)
		s.AddSource("core/v1/nodes", "")
		return s.ExplainBy(&class, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
			"%s adds %s %s of overhead, and no suitable node has the total of %s", &class, added.String(), of, total.String())))
	}
	return nil
}
