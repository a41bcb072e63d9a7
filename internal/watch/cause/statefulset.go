package cause

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// statefulSet explains a StatefulSet like other workloads. It also detects that a pod of another owner already has the
// name of a pod of the StatefulSet. The controller does not report such a conflict.
func statefulSet(s *subject.Subject) *verdict.Verdict {
	if v := workload(s); v != nil || s.Own.Severity <= verdict.OK || !s.IsSettled() {
		return v
	}
	o := neighbor.Decode[appsv1.StatefulSet](s.Object)
	first, replicas := int32(0), int32(1)
	if o.Spec.Ordinals != nil {
		first = o.Spec.Ordinals.Start
	}
	if o.Spec.Replicas != nil {
		replicas = *o.Spec.Replicas
	}
	for n := range min(replicas, neighbor.Limit) {
		name := fmt.Sprintf("%s-%d", s.ID.Name(), first+n)
		p := s.Find(graph.NewID(graph.Kind{Kind: "Pod"}, s.ID.Namespace(), name))
		if p.Object == nil || p.IsOwnedBy(s.Object.UID()) {
			continue
		}
		return s.ExplainBy(&p, verdict.Degraded, "AlreadyExists", fmt.Sprintf(
			"Pod %s cannot be created: a pod of this name already exists, and this StatefulSet does not own it", name))
	}
	return nil
}
