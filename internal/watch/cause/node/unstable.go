package node

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// interruption is how events report one kind of interruption of a node.
type interruption struct {
	reason, sentence string
	count            int32         // How many interruptions within interruptionPeriod are a problem.
	spread           time.Duration // The minimum time from the first of these interruptions to the last one.
}

// interruptions are the interruptions of nodes. A single one is ordinary, for example after an update. If several
// events are about one interruption, the first reason explains it best. When a node has no memory left, the kernel can
// kill several processes at once, and the kubelet reports each of them.
var interruptions = []interruption{ //nolint:gochecknoglobals // Constant.
	{"SystemOOM", "Ran out of memory, and killed processes", 2, 5 * time.Minute},
	{"Rebooted", "Rebooted", minInterruptions, 0},
	{"NodeNotReady", "Became not ready", minInterruptions, 0},
}

const (
	// minInterruptions is how many interruptions within interruptionPeriod are a problem, except for severe ones. The API
	// server keeps events for one hour by default, so a longer period is useless.
	minInterruptions   = 3
	interruptionPeriod = time.Hour
	// calmPeriod is how long after the last interruption a node counts as stable. It is the longest average interval of
	// minInterruptions within interruptionPeriod.
	calmPeriod = interruptionPeriod / (minInterruptions - 1)
)

// unstable reports a node that seems healthy at present, but was interrupted several times within one hour.
func unstable(s *subject.Subject) *verdict.Verdict {
	for _, i := range interruptions {
		last := s.NewestEvent(func(e *corev1.Event) bool { return e.Reason == i.reason })
		if last == nil {
			continue
		}
		count, first := interruptionCount(s, last)
		at := neighbor.EventTime(last)
		if count < i.count || at.Sub(first) < i.spread || subject.HasPassed(s, at.Add(calmPeriod)) {
			continue
		}
		s.AddSource(subject.EventsRef, last.Namespace)
		return s.Explain(verdict.Degraded, i.reason, fmt.Sprintf("%s %d times within an hour", i.sentence, count), nil)
	}
	return nil
}

// interruptionCount returns how many events with the reason of last happened within one hour, until last, and the time
// of the first one. The kubelet and the node controller can both report the same interruption, so only the events of
// one component count. Events about a new node do not count.
func interruptionCount(s *subject.Subject, last *corev1.Event) (count int32, first time.Time) {
	first = neighbor.EventTime(last)
	begin := first.Add(-interruptionPeriod)
	if settled := s.Object.Created().Add(subject.SettleTime); settled.After(begin) {
		begin = settled
	}
	for e := range subject.Events(s) {
		at := neighbor.EventTime(e)
		isSame := e.Reason == last.Reason && e.Source.Component == last.Source.Component
		if !isSame || at.Before(begin) {
			continue
		}
		count++
		if e.Count > 1 && !e.FirstTimestamp.Time.Before(begin) { // All occurrences, not only the last one.
			count += e.Count - 1
			at = e.FirstTimestamp.Time
		}
		if at.Before(first) {
			first = at
		}
	}
	return count, first
}
