package placement

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// maxEvents limits the events of a namespace that are searched for preempted pods.
	maxEvents = 20 * neighbor.Limit
	// eventDelay is the maximum time from the rejection of a pod until the event about an earlier preemption arrives.
	eventDelay = time.Minute
	// maxFull limits the nodes on which pods of a lower priority are searched for.
	maxFull = 10
)

// Preempted adds to the verdict v on a workload that pods of the workload were preempted. It does so only if v is about
// worst, a pod of the workload for which no node has the resources. The preempted pods do not exist any more, so
// Preempted reads the events about them.
func Preempted(s *subject.Subject, worst *neighbor.Neighbor, v *verdict.Verdict) *verdict.Verdict {
	if worst.ID.Kind != podKind || v.Cause == nil || v.Cause.Object != neighbor.ObjectOf(worst) {
		return v
	}
	p := neighbor.Decode[corev1.Pod](worst.Object)
	message, rejected := unschedulableSince(&p)
	latest := rejected.Add(eventDelay)
	if rejected.IsZero() || p.Spec.NodeName != "" || !fullPattern.MatchString(message) || !subject.HasPassed(s, latest) {
		return v
	}
	isPreempted := false
	for _, n := range s.All(graph.Kind{Kind: "Event"}, s.ID.Namespace(), maxEvents) {
		if strings.HasPrefix(n.ID.Name(), s.ID.Name()+"-") && isPreemption(s, &n, latest) {
			subject.Follow(s, &n)
			isPreempted = true
		}
	}
	if !isPreempted {
		return v
	}
	s.AddSource(subject.EventsRef, s.ID.Namespace())
	cause := *v.Cause
	cause.Sentence += ". Pods with a higher priority have preempted pods of " + s.String()
	v.Sentence = strings.Replace(v.Sentence, v.Cause.Sentence, cause.Sentence, 1)
	v.Cause = &cause
	return v
}

// isPreemption reports whether an event describes the preemption of a pod of the subject before a given time. It
// returns false while the preempted pod still exists.
func isPreemption(s *subject.Subject, n *neighbor.Neighbor, before time.Time) bool {
	e := neighbor.Decode[corev1.Event](n.Object)
	name, ok := strings.CutPrefix(e.InvolvedObject.Name, s.ID.Name()+"-")
	isOrdinal := strings.Trim(name, "0123456789") == ""
	if e.Reason != "Preempted" || e.InvolvedObject.Kind != podKind.Kind || !ok || strings.Contains(name, "-") ||
		isOrdinal != (s.ID.Kind.Kind == "StatefulSet") || neighbor.EventTime(&e).After(before) {
		return false
	}
	victim := s.Find(graph.NewID(podKind, s.ID.Namespace(), e.InvolvedObject.Name))
	isReplaced := victim.Object != nil && e.InvolvedObject.UID != "" && victim.Object.UID() != string(e.InvolvedObject.UID)
	return victim.Presence == neighbor.Missing || isReplaced
}

// WithoutPreemption explains why a pod cannot be scheduled: its preemption policy is Never, but a node would have
// enough resources for the pod without the pods of a lower priority. The scheduler would otherwise preempt such pods.
func WithoutPreemption(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	required, isComplete := fit.RequiredLabels(p)
	isNever := ptr.Deref(p.Spec.PreemptionPolicy, "") == corev1.PreemptNever && p.Spec.Priority != nil
	if !isNever || !isComplete || p.Spec.NodeName != "" || !fullPattern.MatchString(rejection(p)) {
		return nil
	}
	nodes, ok := fit.NodesWith(s, required)
	if !ok || !subject.KnowsAll(s, podKind, "") {
		return nil
	}
	slices.SortFunc(nodes, func(a, b neighbor.Neighbor) int { return strings.Compare(a.ID.Key, b.ID.Key) })
	for n, checked := 0, 0; n < len(nodes) && checked < maxFull; n++ {
		node := neighbor.Decode[corev1.Node](nodes[n].Object)
		if node.Spec.Unschedulable || fit.Untolerated(p, &node) != nil {
			continue
		}
		checked++
		lower := lowerPods(s, p, &node)
		if len(lower) == 0 {
			continue
		}
		for at := range lower {
			subject.Follow(s, &lower[at])
			s.AddSource(lower[at].Resource, lower[at].ID.Namespace())
		}
		subject.Follow(s, &nodes[n])
		s.AddSource(nodes[n].Resource, "")
		return s.Explain(s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
			"The preemption policy of the pod is Never, so it does not preempt pods with a lower priority on %s, "+
				"which would have enough resources without them", &nodes[n])), nil)
	}
	return nil
}

// lowerPods returns the pods of a lower priority on a node. It returns nothing if the node would not have the
// resources that p requests without these pods, or if possibly not all pods of the node are known.
func lowerPods(s *subject.Subject, p *corev1.Pod, node *corev1.Node) (lower []neighbor.Neighbor) {
	ids, isComplete := subject.UsersOf(s, graph.NewID(nodeKind, "", node.Name), maxPods)
	if !isComplete {
		return nil
	}
	others := []corev1.Pod{*p} // The pods that remain, and p itself.
	var preempted []corev1.Pod
	for _, n := range s.Existing(ids) {
		other := neighbor.Decode[corev1.Pod](n.Object)
		switch {
		case n.ID.Kind != podKind || subject.IsFinished(&other):
		case ptr.Deref(other.Spec.Priority, 0) < *p.Spec.Priority:
			lower, preempted = append(lower, n), append(preempted, other)
		default:
			others = append(others, other)
		}
	}
	isFull := false
	for name := range node.Status.Allocatable {
		free := node.Status.Allocatable[name].DeepCopy()
		for n := range others {
			free.Sub(fit.Request(&others[n], name))
		}
		if free.Sign() < 0 {
			return nil
		}
		for n := range preempted {
			free.Sub(fit.Request(&preempted[n], name))
		}
		isFull = isFull || free.Sign() < 0
	}
	if !isFull {
		return nil // The node rejects p for another reason.
	}
	return lower
}
