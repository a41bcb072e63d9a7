package placement

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/pool"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// defaulted explains why a pod gets no node: a LimitRange has set a request of a container that has none, and no
// suitable node is so large. Without this request, the pod would fit on an empty node.
func defaulted(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if !fullPattern.MatchString(rejection(p)) {
		return nil
	}
	all, isComplete := subject.AllOf(s, graph.Kind{Kind: "LimitRange"}, s.ID.Namespace(), neighbor.Limit)
	if len(all) != 1 || !isComplete || all[0].Object.Created().After(p.CreationTimestamp.Time) || pool.CanAdd(s, p) {
		return nil
	}
	by := neighbor.Decode[corev1.LimitRange](all[0].Object)
	for _, of := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		set := defaultOf(&by, of)
		count := defaultCount(p, of, set)
		if count == 0 || !strings.Contains(rejection(p), "Insufficient "+string(of)) {
			continue
		}
		now, largest := fit.Request(p, of), fit.LargestNode(s, p, of)
		own := now.DeepCopy()
		for range count {
			own.Sub(*set)
		}
		if largest == nil || largest.Cmp(now) >= 0 || largest.Cmp(own) < 0 {
			continue
		}
		subject.Follow(s, &all[0])
		s.AddSource("core/v1/nodes", "")
		return s.ExplainBy(&all[0], s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
			"%s sets a %s request of %s for containers without one. The pod requests %s, and the largest suitable node has %s",
			&all[0], of, amount(of, set), amount(of, &now), amount(of, largest))))
	}
	return nil
}

// defaultOf returns the request that a LimitRange sets for a container without one, or nil.
func defaultOf(o *corev1.LimitRange, of corev1.ResourceName) *resource.Quantity {
	for n := range o.Spec.Limits {
		item := &o.Spec.Limits[n]
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		for _, list := range []corev1.ResourceList{item.DefaultRequest, item.Default} {
			if set, ok := list[of]; ok {
				return &set
			}
		}
	}
	return nil
}

// defaultCount returns how many containers of a pod have the default request.
func defaultCount(p *corev1.Pod, of corev1.ResourceName, set *resource.Quantity) (count int) {
	if set == nil {
		return 0
	}
	for n := range p.Spec.Containers {
		request, ok := p.Spec.Containers[n].Resources.Requests[of]
		if ok && request.Cmp(*set) == 0 && fit.HasDefault(p, p.Spec.Containers[n].Name, "request", of) {
			count++
		}
	}
	return count
}
