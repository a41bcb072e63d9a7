package cause

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// interruptions are the reasons of events about an interruption of a node, with words for the sentence of a verdict. A
// single interruption is ordinary, for example after an update. If several events are about one interruption, the first
// reason explains it best.
var interruptions = []struct{ reason, sentence string }{ //nolint:gochecknoglobals // Constant.
	{"Rebooted", "Rebooted"},
	{"NodeNotReady", "Became not ready"},
}

const (
	// minInterruptions is how many interruptions within interruptionPeriod are a problem. The API server keeps events for
	// one hour by default, so a longer period is useless.
	minInterruptions   = 3
	interruptionPeriod = time.Hour
	// calmPeriod is the time without interruptions after which a node counts as stable. If minInterruptions happen
	// within interruptionPeriod, the average interval between them is at most calmPeriod.
	calmPeriod = interruptionPeriod / (minInterruptions - 1)
)

// unstable reports a node that seems healthy at present, but was interrupted several times within one hour.
func unstable(s *subject.Subject) *verdict.Verdict {
	for _, i := range interruptions {
		last := s.NewestEvent(func(e *corev1.Event) bool { return e.Reason == i.reason })
		if last == nil {
			continue
		}
		count, end := interruptionCount(s, last), neighbor.EventTime(last).Add(calmPeriod)
		if count < minInterruptions || subject.HasPassed(s, end) {
			continue
		}
		s.AddSource(subject.EventsRef, last.Namespace)
		return s.Explain(verdict.Degraded, i.reason, fmt.Sprintf("%s %d times within an hour", i.sentence, count), nil)
	}
	return nil
}

// interruptionCount returns how many events with the reason of the newest event (last) happened within one hour, until
// the newest event. The kubelet and the node controller can both report the same interruption, so only the events of
// one component count. Events about a new node do not count.
func interruptionCount(s *subject.Subject, last *corev1.Event) (count int32) {
	begin := neighbor.EventTime(last).Add(-interruptionPeriod)
	if settled := s.Object.Created().Add(subject.SettleTime); settled.After(begin) {
		begin = settled
	}
	for e := range subject.Events(s) {
		isSame := e.Reason == last.Reason && e.Source.Component == last.Source.Component
		if !isSame || neighbor.EventTime(e).Before(begin) {
			continue
		}
		count++
		if e.Count > 1 && !e.FirstTimestamp.Time.Before(begin) { // Count all occurrences, not only the last one.
			count += e.Count - 1
		}
	}
	return count
}
