package placement

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// QueuedJob explains a suspended Job that owns a custom resource with a problem, such as a Workload of Kueue. A queue
// keeps the Job suspended until it admits this custom resource.
func QueuedJob(s *subject.Subject) *verdict.Verdict {
	isBuiltIn := func(id graph.ID) bool { return !resource.IsCustom(id.Group) }
	owned := slices.DeleteFunc(s.Owned(s.Object.UID(), neighbor.Limit), isBuiltIn)
	worst := s.Worst(s.Existing(owned)) // Nil for most Jobs: they own only pods. Only other Jobs are decoded below.
	if worst == nil {
		return nil
	}
	if suspend := neighbor.Decode[batchv1.Job](s.Object).Spec.Suspend; suspend == nil || !*suspend {
		return nil
	}
	return s.Inherit(worst, verdict.Degraded, worst.String()+": ")
}
