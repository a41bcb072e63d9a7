package placement

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

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

// isPreemption reports whether an event describes the preemption of a pod of the subject before a given time. The
// preempted pod must not exist any more.
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
