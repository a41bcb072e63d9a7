package placement

import (
	"fmt"
	"regexp"
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

// updatedBy matches the annotation vpaUpdates of a pod. It names the VerticalPodAutoscaler that has changed requests.
var updatedBy = regexp.MustCompile(`^Pod resources updated by ([a-z0-9.-]+): `)

// raised explains why a pod gets no node: a VerticalPodAutoscaler has raised a request of the pod, and no suitable node
// is so large. With the request in the template of its owner, the pod would fit on an empty node.
func raised(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	found := updatedBy.FindStringSubmatch(p.Annotations["vpaUpdates"])
	if found == nil || !fullPattern.MatchString(rejection(p)) {
		return nil
	}
	kind := graph.Kind{Group: "autoscaling.k8s.io", Kind: "VerticalPodAutoscaler"}
	by := s.Find(graph.NewID(kind, s.ID.Namespace(), found[1]))
	owner := creatorOf(s)
	if by.Object == nil || owner == nil {
		return nil
	}
	template := &corev1.Pod{Spec: subject.Template(owner).Spec}
	if pool.CanAdd(s, p) {
		return nil // Karpenter can add a larger node.
	}
	for _, of := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if !strings.Contains(rejection(p), "Insufficient "+string(of)) {
			continue
		}
		before, now, largest := fit.Request(template, of), fit.Request(p, of), fit.LargestNode(s, p, of)
		if largest == nil || largest.Cmp(now) >= 0 || largest.Cmp(before) < 0 {
			continue
		}
		subject.Follow(s, &by)
		s.AddSource("core/v1/nodes", "")
		s.AddSource(owner.Resource, owner.ID.Namespace())
		return s.ExplainBy(&by, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
			"%s has raised the %s request from %s to %s, and the largest suitable node has %s",
			&by, of, amount(of, &before), amount(of, &now), amount(of, largest))))
	}
	return nil
}

// creatorOf returns the workload that has created a pod from its template, or nil.
func creatorOf(s *subject.Subject) *neighbor.Neighbor {
	_, owners := s.References(s.ID)
	for n := range owners {
		owner := s.Find(owners[n].ID)
		isOwner := owner.Object != nil && owner.Object.UID() == owners[n].UID
		if isOwner && len(subject.Template(&owner).Spec.Containers) > 0 {
			return &owner
		}
	}
	return nil
}

// amount returns a quantity as a text. An amount of memory has a binary unit, so that it can be compared with others.
func amount(of corev1.ResourceName, q *resource.Quantity) string {
	if of == corev1.ResourceMemory {
		return resource.NewQuantity(q.Value(), resource.BinarySI).String()
	}
	return q.String()
}
