package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const outOfMemory = "OOMKilled"

// DefaultLimit explains a pod whose container uses too much memory by the LimitRange from which the API server took the
// limit of this container.
func DefaultLimit(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || !strings.Contains(s.Own.Sentence, outOfMemory) {
		return nil
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if !isKilled(&c) || !subject.ContainsName(s.Own.Sentence, c.Name) ||
			!fit.HasDefault(p, c.Name, "limit", corev1.ResourceMemory) {
			continue
		}
		limit := memoryLimit(p, c.Name)
		if limit == "" {
			continue
		}
		for _, n := range s.All(graph.Kind{Kind: "LimitRange"}, s.ID.Namespace(), neighbor.Limit) {
			if memoryDefault(&n) != limit {
				continue
			}
			subject.Follow(s, &n)
			return s.ExplainBy(&n, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
				"Container %s sets no memory limit, so it has the default limit of %s, which is %s", c.Name, &n, limit)))
		}
	}
	return nil
}

// isKilled reports whether a container does not run because it used too much memory.
func isKilled(c *corev1.ContainerStatus) bool {
	end := cmp.Or(c.State.Terminated, c.LastTerminationState.Terminated)
	return c.State.Running == nil && end != nil && end.Reason == outOfMemory
}

func memoryLimit(p *corev1.Pod, container string) string {
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if limit, ok := c.Resources.Limits[corev1.ResourceMemory]; ok && c.Name == container {
			return limit.String()
		}
	}
	return ""
}

// memoryDefault returns the default of a LimitRange for the memory limit of a container, or "".
func memoryDefault(n *neighbor.Neighbor) string {
	for _, item := range neighbor.Decode[corev1.LimitRange](n.Object).Spec.Limits {
		if limit, ok := item.Default[corev1.ResourceMemory]; ok && item.Type == corev1.LimitTypeContainer {
			return limit.String()
		}
	}
	return ""
}
