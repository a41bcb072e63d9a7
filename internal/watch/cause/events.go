package cause

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// newestEvent returns the newest event about the subject that include accepts, or nil.
func (s *subject) newestEvent(include func(*corev1.Event) bool) *corev1.Event {
	var last *corev1.Event
	for _, id := range s.Users(s.ID, neighbor.Limit) {
		if id.Kind != eventKind {
			continue
		}
		n := s.Find(id)
		e := neighbor.Decode[corev1.Event](n.Object)
		if e.InvolvedObject.UID != "" && string(e.InvolvedObject.UID) != s.Object.UID() {
			continue
		}
		if include(&e) && (last == nil || neighbor.EventTime(&e).After(neighbor.EventTime(last))) {
			last = &e
		}
	}
	return last
}

// lastEvent returns the message of the newest event about the subject with one of the reasons, or "".
func (s *subject) lastEvent(reasons ...string) string {
	last := s.newestEvent(func(e *corev1.Event) bool { return slices.Contains(reasons, e.Reason) })
	if last == nil {
		return ""
	}
	s.readsIn(eventsRef, last.Namespace)
	return last.Message
}

const (
	// recent is how long a warning about an object that seems healthy matters.
	recent = time.Hour
	// settleTime is how long a new object can have warnings without a problem.
	settleTime = 10 * time.Minute
)

func isWarning(e *corev1.Event) bool { return e.Type == corev1.EventTypeWarning && e.Message != "" }

// lastWarning explains an object that waits for too long by the newest warning about it.
func lastWarning(s *subject) *verdict.Verdict {
	switch s.ID.Kind {
	case podKind, nodeKind, eventKind, graph.Kind{Group: "events.k8s.io", Kind: "Event"}:
		return nil // Their own sentences are specific.
	}
	if s.own.Severity != verdict.Degraded || symptom.NamesError(s.own.Sentence) {
		return nil
	}
	last := s.newestEvent(isWarning)
	if last == nil {
		return nil
	}
	s.readsIn(eventsRef, last.Namespace)
	sentence := last.Message
	if s.own.Sentence != "" {
		sentence = s.own.Sentence + ": " + sentence
	}
	return s.inherit(verdict.Degraded, last.Reason, sentence, nil)
}

// rejected explains an Ingress without an address by a warning that its controller repeats. Without such a warning, the
// controller may never assign an address.
func rejected(s *subject) *verdict.Verdict {
	last := s.newestEvent(func(*corev1.Event) bool { return true })
	if last == nil || !isWarning(last) {
		return nil
	}
	at, count := neighbor.EventTime(last), last.Count
	if last.Series != nil {
		count = last.Series.Count
	}
	if count < 2 || at.Before(s.Object.Created().Add(settleTime)) || at.Before(s.Now().Add(-recent)) {
		return nil
	}
	s.readsIn(eventsRef, last.Namespace)
	return s.inherit(verdict.Degraded, last.Reason, "No address assigned: "+last.Message, nil)
}
