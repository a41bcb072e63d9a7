// Package placement explains why a pod gets no node.
package placement

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/pool"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

//nolint:gochecknoglobals // Constant.
var nodeKind = graph.Kind{Kind: "Node"}

// pin is the only node on which a pod can run.
type pin struct {
	node string
	via  string // What restricts the pod to this node, such as "its node selector".
	// isLabel means that the pod requires the hostname label of the node, and not the name of the node.
	isLabel bool
}

// Unscheduled explains a pod that cannot be scheduled, by its scheduler, its volumes, other pods, an object that adds
// to its requests or to its node selector, an autoscaler and its pools of nodes, or the nodes on which it can run.
func Unscheduled(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if v := withoutScheduler(s, p); v != nil {
		return v
	}
	if p.Spec.NodeName != "" || !isRejectedByNodes(p) {
		return nil
	}
	for _, rule := range []func(*subject.Subject, *corev1.Pod) *verdict.Verdict{
		apart, pinned, portTaken, excluded, overhead, raised, defaulted, pool.Explain, flavored, withoutDevices, labeled,
	} {
		if v := rule(s, p); v != nil {
			return v
		}
	}
	return nil
}

// pinned explains why a pod cannot be scheduled, by a problem of the only node on which the pod can run.
func pinned(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	to, ok := pinOf(s, p)
	if !ok {
		return nil
	}
	node := s.Find(graph.NewID(nodeKind, "", to.node))
	prefix := fmt.Sprintf("The pod can only run on %s (because of %s), but this node ", &node, to.via)
	switch o := neighbor.Decode[corev1.Node](node.Object); {
	case node.Presence == neighbor.Missing:
		return missingNode(s, &node, to)
	case node.Object == nil:
		return nil
	case s.IsFailed(&node) || s.HasProblem(&node) && isKeptAway(p, &node):
		return s.Inherit(&node, s.Own.Severity, prefix+"has a problem: ")
	case fit.IsCordoned(p, &o):
		return s.ExplainBy(&node, s.Own.Severity, "NodeUnschedulable", prefix+"is unschedulable (cordoned)")
	default:
		taint := fit.Untolerated(p, &o)
		if taint == nil {
			return nil
		}
		return s.ExplainBy(&node, s.Own.Severity, "UntoleratedTaint",
			prefix+"has a taint that the pod does not tolerate: "+taint.ToString())
	}
}

// isRejectedByNodes reports whether the scheduler rejected a pod because of the nodes, and not because of its volumes.
func isRejectedByNodes(p *corev1.Pod) bool {
	message := rejection(p)
	return strings.Contains(message, "nodes are available") &&
		!strings.Contains(message, "unbound immediate PersistentVolumeClaims")
}

// rejection returns the message of the scheduler about why a pod fits on no node, or "".
func rejection(p *corev1.Pod) string {
	message, _ := unschedulableSince(p)
	return message
}

// unschedulableSince returns the message of the scheduler about why a pod fits on no node, without the part about
// preemption, and the time of the first rejection.
func unschedulableSince(p *corev1.Pod) (message string, since time.Time) {
	for n := range p.Status.Conditions {
		c := &p.Status.Conditions[n]
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
			message, _, _ = strings.Cut(c.Message, ". ")
			return message, c.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

// missingNode reports a pod that can only run on a node that does not exist. If the pod selects the node by a label,
// missingNode reports it only if no node has this label.
func missingNode(s *subject.Subject, node *neighbor.Neighbor, to pin) *verdict.Verdict {
	if to.isLabel && fit.HasNode(s, corev1.LabelHostname, to.node) {
		return nil
	}
	v := s.ReportMissing(node, s.Own.Severity)
	v.Sentence = fmt.Sprintf("The pod can only run on %s (because of %s), but this node does not exist", node, to.via)
	v.Cause.Sentence = v.Sentence // An object that inherits the verdict shows the sentence of the cause.
	return v
}

// pinOf returns the only node on which a pod can run, according to its selector, its affinity or its volumes.
func pinOf(s *subject.Subject, p *corev1.Pod) (to pin, ok bool) {
	if name := p.Spec.NodeSelector[corev1.LabelHostname]; name != "" {
		return pin{name, "its node selector", true}, true
	}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		if to, ok = pinOfSelector(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution); ok {
			to.via = "its node affinity"
			return to, true
		}
	}
	for n := range s.Used(func(u *graph.Use) bool { return u.Target.Kind.Kind == "PersistentVolumeClaim" }) {
		claim := neighbor.Decode[corev1.PersistentVolumeClaim](n.Object)
		if claim.Spec.VolumeName == "" {
			continue
		}
		n := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", claim.Spec.VolumeName))
		volume := neighbor.Decode[corev1.PersistentVolume](n.Object)
		if volume.Spec.NodeAffinity == nil {
			continue
		}
		if to, ok = pinOfSelector(volume.Spec.NodeAffinity.Required); ok {
			s.AddSource(n.Resource, "")
			to.via = "volume " + volume.Name
			return to, true
		}
	}
	return pin{}, false
}

// pinOfSelector returns the node that a selector requires. ok is true only if all alternatives of the selector require
// this node.
func pinOfSelector(selector *corev1.NodeSelector) (to pin, ok bool) {
	if selector == nil || len(selector.NodeSelectorTerms) == 0 {
		return pin{}, false
	}
	for n := range selector.NodeSelectorTerms {
		term := &selector.NodeSelectorTerms[n]
		found, ok := pinOfTerm(term)
		if !ok || n > 0 && found.node != to.node {
			return pin{}, false
		}
		to = found
	}
	return to, true
}

func pinOfTerm(term *corev1.NodeSelectorTerm) (to pin, ok bool) {
	for _, r := range term.MatchFields {
		if r.Key == metav1.ObjectNameField && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			return pin{node: r.Values[0]}, true
		}
	}
	for _, r := range term.MatchExpressions {
		if r.Key == corev1.LabelHostname && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			return pin{node: r.Values[0], isLabel: true}, true
		}
	}
	return pin{}, false
}
