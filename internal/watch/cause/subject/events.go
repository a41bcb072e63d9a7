package subject

import (
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// NewestEvent returns the newest event about the subject for which include returns true, or nil.
func (s *Subject) NewestEvent(include func(*corev1.Event) bool) *corev1.Event {
	var last *corev1.Event
	for e := range Events(s) {
		if include(e) && (last == nil || neighbor.EventTime(e).After(neighbor.EventTime(last))) {
			last = e
		}
	}
	return last
}

// maxOnNode limits how many users of a node are read: its pods and its events. A node can have several hundred pods.
const maxOnNode = 1000

// Events returns the events about the subject, in no particular order.
func Events(s *Subject) iter.Seq[*corev1.Event] {
	isNode, limit := s.ID.Kind == graph.Kind{Kind: "Node"}, neighbor.Limit
	if isNode {
		limit = maxOnNode
	}
	return func(yield func(*corev1.Event) bool) {
		for _, id := range s.Users(s.ID, limit) {
			if id.Kind != (graph.Kind{Kind: "Event"}) {
				continue
			}
			e := neighbor.Decode[corev1.Event](s.Find(id).Object)
			uid := string(e.InvolvedObject.UID)
			// In the events of a node, the kubelet uses the node name as UID.
			isInvolved := uid == "" || uid == s.Object.UID() || isNode && uid == s.ID.Name()
			if isInvolved && !yield(&e) {
				return
			}
		}
	}
}

// EventMessage returns the message of the newest event about the subject with one of the reasons, or "".
func (s *Subject) EventMessage(reasons ...string) string {
	last := s.NewestEvent(func(e *corev1.Event) bool { return slices.Contains(reasons, e.Reason) })
	if last == nil {
		return ""
	}
	s.AddSource(EventsRef, last.Namespace)
	return last.Message
}

// MaxCallAge is the maximum age of an event about a failed attempt that still applies, such as a failed call of a
// webhook. A controller that fails again and again waits up to about 17 minutes between its attempts.
const MaxCallAge = 20 * time.Minute

// IsRepeated reports whether an event happened more than once.
func IsRepeated(e *corev1.Event) bool { return e.Count > 1 || e.Series != nil && e.Series.Count > 1 }

// IsWarning reports whether an event is a warning with a message. Some controllers use another type than Warning.
func IsWarning(e *corev1.Event) bool {
	isWarning := slices.Contains([]string{corev1.EventTypeWarning, "Error", "Critical", "Fatal", "Alert"}, e.Type)
	return isWarning && e.Message != ""
}

const (
	// recent is the maximum age of a warning that is a problem although the object seems healthy.
	recent = time.Hour
	// SettleTime is the time that controllers have to handle a new object. During this time, warnings about the object
	// are not a problem, and neither are missing objects that controllers create.
	SettleTime = 10 * time.Minute
)

// RepeatedWarning explains an object by its newest event, if this is a repeated warning. It ignores policy violations.
func (s *Subject) RepeatedWarning(prefix string) *verdict.Verdict {
	last := s.NewestEvent(func(e *corev1.Event) bool { return e.Reason != "PolicyViolation" })
	if last == nil || !IsWarning(last) {
		return nil
	}
	return s.Repeated(last, prefix)
}

// Repeated explains an object by the event last, if it is recent and was repeated. The sentence begins with prefix.
func (s *Subject) Repeated(last *corev1.Event, prefix string) *verdict.Verdict {
	at, count := neighbor.EventTime(last), last.Count
	if last.Series != nil {
		count = last.Series.Count
	}
	if count < 2 || at.Before(s.Object.Created().Add(SettleTime)) || at.Before(s.Now().Add(-recent)) {
		return nil
	}
	s.AddSource(EventsRef, last.Namespace)
	return s.Explain(verdict.Degraded, last.Reason, prefix+last.Message, nil)
}
