package pool

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxFailureAge is the maximum age of an autoscaler's warning that still applies. An autoscaler that fails again and
// again waits between its attempts, for example 30 minutes.
const maxFailureAge = time.Hour

// withoutNewNode adds to the message of the scheduler why the cluster autoscaler cannot add a node for a pod. It
// ignores a failure that precedes another attempt, because the autoscaler then waits for a new node.
func withoutNewNode(s *subject.Subject, _ *corev1.Pod) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	last := s.NewestEvent(func(e *corev1.Event) bool {
		return e.Reason == "TriggeredScaleUp" || e.Reason == "FailedScaleUp"
	})
	if last == nil || !subject.IsWarning(last) || neighbor.EventTime(last).Before(s.Now().Add(-maxFailureAge)) {
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	return s.Explain(s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, last.Message), nil)
}
