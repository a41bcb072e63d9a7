package subject

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// NoPods is the reason of a verdict on a Service or an Istio Gateway whose selector matches no pod.
const NoPods = "NoPods"

// Creator is a workload that creates pods from a template.
type Creator struct {
	neighbor.Neighbor

	content creatorContent
}

type creatorContent struct {
	Spec struct {
		Replicas *int64                 `json:"replicas"`
		Paused   bool                   `json:"paused"`
		Template corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

// Creators returns the workloads of the subject's namespace that create pods which a selector selects, each once. If
// the owner of a ReplicaSet, for example, also has such a pod template, Creators returns the owner instead, because the
// owner scales the ReplicaSet. isComplete is false if there are possibly more.
func Creators(s *Subject, selector *objectrefs.Selector) (found []Creator, isComplete bool) {
	isComplete = true
	for _, kind := range []graph.Kind{
		{Group: "apps", Kind: "Deployment"},
		{Group: "apps", Kind: "StatefulSet"},
		{Group: "apps", Kind: "DaemonSet"},
		{Kind: "ReplicationController"},
		{Group: "apps", Kind: "ReplicaSet"},
		{Group: "argoproj.io", Kind: "Rollout"},
		{Group: "apps.openshift.io", Kind: "DeploymentConfig"},
		{Group: "apps.kruise.io", Kind: "CloneSet"},
		{Group: "apps.kruise.io", Kind: "StatefulSet"},
		{Group: "apps.kruise.io", Kind: "DaemonSet"},
	} {
		all, ok := AllOf(s, kind, s.ID.Namespace(), neighbor.Limit)
		isComplete = isComplete && ok
		for n := range all {
			c := Creator{all[n], neighbor.Decode[creatorContent](all[n].Object)}
			if !selector.Matches(c.content.Spec.Template.Labels) {
				continue
			}
			c = c.top(s, selector)
			if !slices.ContainsFunc(found, func(other Creator) bool { return other.ID == c.ID }) {
				found = append(found, c)
			}
		}
	}
	return found, isComplete
}

// top returns the topmost owner of a workload that creates pods which the selector selects, or the workload itself.
func (c Creator) top(s *Subject, selector *objectrefs.Selector) Creator {
	for range maxSteps {
		_, owners := s.References(c.ID)
		at := slices.IndexFunc(owners, func(o graph.Owner) bool {
			n := s.Find(o.ID)
			return n.Object != nil && n.Object.UID() == o.UID &&
				selector.Matches(neighbor.Decode[creatorContent](n.Object).Spec.Template.Labels)
		})
		if at < 0 {
			break
		}
		owner := s.Find(owners[at].ID)
		c = Creator{owner, neighbor.Decode[creatorContent](owner.Object)}
	}
	return c
}

// WithoutPods returns why the workload has no pods on purpose: it is scaled to zero, or paused before its first
// rollout.
// The result is empty if the workload should have pods.
func (c *Creator) WithoutPods() string {
	switch {
	case c.content.Spec.Replicas != nil && *c.content.Spec.Replicas == 0:
		return "is scaled to zero"
	case c.content.Spec.Paused && c.Object.Verdict().Severity() == verdict.OK:
		return "is paused"
	}
	return ""
}

// needsPodsOf reports whether a Service has a problem only because no pod matches its selector, and the subject is a
// workload that should create such pods.
func needsPodsOf(s *Subject, service *neighbor.Neighbor) bool {
	selector := s.Selector(service.ID)
	return selector != nil && service.ID.Kind == graph.Kind{Kind: "Service"} &&
		service.Object.Verdict().Unpack().Reason == NoPods && service.ID.Namespace() == s.ID.Namespace() &&
		selector.Matches(neighbor.Decode[creatorContent](s.Object).Spec.Template.Labels)
}

// FailedOwner returns the custom resource that owns the subject and reports an error of its own, or nil. It ignores an
// owner that has created working pods: its error is then not the reason why pods are missing.
func FailedOwner(s *Subject) *neighbor.Neighbor {
	_, owners := s.References(s.ID)
	for n := range owners {
		owner := s.Find(owners[n].ID)
		if owner.Object == nil || owner.Object.UID() != owners[n].UID || !resource.IsCustom(owner.ID.Group) {
			continue
		}
		v := owner.Object.Verdict()
		own := v.Own().Unpack()
		if v.Severity().IsProblem() && rank(&own) == 2 && !createsPods(s, owner.Object.UID()) {
			return &owner
		}
	}
	return nil
}

// createsPods reports whether the object with a UID owns a pod, or a workload that creates pods, without a problem. It
// also returns true if not all objects that it owns are read.
func createsPods(s *Subject, uid string) bool {
	owned, isComplete := OwnedBy(s, uid, MaxOwned)
	return !isComplete || slices.ContainsFunc(owned, func(n neighbor.Neighbor) bool {
		isCreator := n.ID.Kind.Kind == "Pod" || n.ID.Group == "apps" || n.ID.Group == "batch"
		return isCreator && !n.Object.Verdict().Own().Severity().IsProblem()
	})
}
