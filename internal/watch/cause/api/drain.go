package api

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

//nolint:gochecknoglobals // Constants.
var (
	nodeKind   = graph.Kind{Kind: "Node"}
	budgetKind = graph.Kind{Group: "policy", Kind: "PodDisruptionBudget"}
)

// BlockedDrain explains why a node, or the machine of a node, is not deleted: a pod of the node does not stop, or a
// budget does not permit its eviction. The controllers of machines drain the node first.
func BlockedDrain(s *subject.Subject) *verdict.Verdict {
	node := s.Find(graph.NewID(nodeKind, "", nodeNameOf(s)))
	if !s.Own.Severity.IsProblem() || node.Object == nil {
		return nil
	}
	subject.Follow(s, &node)
	pods := s.Existing(s.Users(node.ID, 2*neighbor.Limit))
	slices.SortFunc(pods, func(a, b neighbor.Neighbor) int { return cmp.Compare(a.ID.Key, b.ID.Key) })
	for n := range pods {
		if pods[n].ID.Kind != (graph.Kind{Kind: "Pod"}) {
			continue
		}
		if v := blockedPod(s, &pods[n]); v != nil {
			s.AddSource(subject.PodsRef, pods[n].ID.Namespace())
			s.AddSource(node.Resource, "")
			subject.Follow(s, &pods[n])
			v.Reason = s.Own.Reason
			v.Sentence = subject.Sentences(s.Own.Sentence, node.String()+" is not drained: "+v.Sentence)
			return v
		}
	}
	return nil
}

// nodeNameOf returns the name of the node that is deleted together with the subject. The subject is the node itself, or
// the machine of the node. The machines of Karpenter have the member status.nodeName, and those of the Cluster API have
// status.nodeRef.
func nodeNameOf(s *subject.Subject) string {
	if s.ID.Kind == nodeKind {
		return s.ID.Name()
	}
	status := neighbor.Decode[struct {
		Status struct {
			NodeName string `json:"nodeName"`
			NodeRef  struct {
				Name string `json:"name"`
			} `json:"nodeRef"`
		} `json:"status"`
	}](s.Object).Status
	return cmp.Or(status.NodeName, status.NodeRef.Name)
}

// blockedPod explains why a pod does not leave its node. It returns nil if it finds no reason, and for the pods that a
// drain ignores: static pods, and pods of DaemonSets.
func blockedPod(s *subject.Subject, n *neighbor.Neighbor) *verdict.Verdict {
	p := neighbor.Decode[corev1.Pod](n.Object)
	for _, owner := range p.OwnerReferences {
		if owner.Kind == "DaemonSet" || owner.Kind == "Node" {
			return nil
		}
	}
	switch {
	case p.Status.Phase == corev1.PodSucceeded, p.Status.Phase == corev1.PodFailed:
		return nil
	case p.DeletionTimestamp == nil:
		return protectedPod(s, n, &p)
	case s.HasProblem(n) && n.Object.Verdict().Own().Unpack().Reason == subject.Terminating:
		return s.Inherit(n, verdict.Degraded, s.Name(n)+": ")
	}
	return nil
}

// protectedPod explains a pod that must not be evicted, because of a budget or an annotation of Karpenter.
func protectedPod(s *subject.Subject, n *neighbor.Neighbor, p *corev1.Pod) *verdict.Verdict {
	for _, budget := range s.All(budgetKind, p.Namespace, neighbor.Limit) {
		selector := s.Selector(budget.ID)
		if selector == nil || !selector.Matches(p.Labels) {
			continue
		}
		if s.HasProblem(&budget) {
			subject.Follow(s, &budget)
			return s.Inherit(&budget, verdict.Degraded, s.Name(&budget)+": ")
		}
		if o := neighbor.Decode[policy.PodDisruptionBudget](budget.Object); blocks(&o, p) {
			subject.Follow(s, &budget)
			return s.ExplainBy(&budget, verdict.Degraded, "", s.Name(&budget)+" blocks the eviction of "+s.Name(n))
		}
	}
	const annotation = "karpenter.sh/do-not-disrupt"
	if s.ID.Group == "karpenter.sh" && p.Annotations[annotation] == "true" {
		return s.ExplainBy(n, verdict.Degraded, "", s.Name(n)+" has the annotation "+annotation)
	}
	return nil
}

// blocks reports whether a budget forbids a pod's eviction. It returns false for unready pods that the budget exempts.
func blocks(o *policy.PodDisruptionBudget, p *corev1.Pod) bool {
	unhealthy := o.Spec.UnhealthyPodEvictionPolicy
	isFree := !neighbor.IsReady(p) && (o.Status.CurrentHealthy >= o.Status.DesiredHealthy ||
		unhealthy != nil && *unhealthy == policy.AlwaysAllow)
	return p.Status.Phase == corev1.PodRunning && o.Status.ExpectedPods > 0 && o.Status.DisruptionsAllowed == 0 && !isFree
}
