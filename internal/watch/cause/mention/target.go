package mention

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// targetGate is the start of the type of a readiness gate. The rest is the name of a TargetGroupBinding.
const targetGate = "target-health.elbv2.k8s.aws/"

// FailedTarget explains a pod that is not ready because it is not a healthy target of a load balancer of AWS, by a
// repeated warning about the TargetGroupBinding that registers the pod. The sentence of the pod must name the readiness
// gate. FailedTarget does not read the verdict of the binding, which can depend on the pod.
func FailedTarget(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	for _, gate := range p.Spec.ReadinessGates {
		name, ok := strings.CutPrefix(string(gate.ConditionType), targetGate)
		if !ok || !s.Own.Severity.IsProblem() ||
			!strings.Contains(subject.CompleteSentence(s), `"`+string(gate.ConditionType)+`"`) {
			continue
		}
		kind := graph.Kind{Group: "elbv2.k8s.aws", Kind: "TargetGroupBinding"}
		n := s.Find(graph.NewID(kind, s.ID.Namespace(), name))
		subject.Follow(s, &n)
		if n.Object == nil {
			continue
		}
		if warning := subject.New(s.Cluster, n).RepeatedWarning(n.String() + ": "); warning != nil {
			s.AddSource(subject.EventsRef, s.ID.Namespace())
			sentence := subject.Sentences(s.Own.Sentence, warning.Sentence)
			return s.ExplainBy(&n, s.Own.Severity, s.Own.Reason, sentence)
		}
	}
	return nil
}
