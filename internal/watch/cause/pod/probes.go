package pod

import (
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// killPattern matches the message of the kubelet's event before it restarts a container because of a probe.
var killPattern = regexp.MustCompile(`^Container (\S+) failed (liveness|startup) probe`)

// probeFailure explains a pod whose containers have started. It names the failing probe from the events of the kubelet,
// because the status of a pod does not name the probe.
func probeFailure(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() {
		return nil
	}
	if s.Own.Reason == "NotReady" {
		last := s.NewestEvent(func(e *corev1.Event) bool { return isProbeFailure(e, "Readiness", "Startup") })
		if last == nil || !isUnready(p, containerOf(last)) {
			return nil
		}
		return extended(s, last.Message)
	}
	kill := s.NewestEvent(func(e *corev1.Event) bool {
		return e.Reason == "Killing" && killPattern.MatchString(e.Message)
	})
	if kill == nil {
		return nil
	}
	found := killPattern.FindStringSubmatch(kill.Message)
	if !endedBy(p, found[1], neighbor.EventTime(kill)) {
		return nil
	}
	probe := strings.ToUpper(found[2][:1]) + found[2][1:]
	failure := s.NewestEvent(func(e *corev1.Event) bool {
		return isProbeFailure(e, probe) && (containerOf(e) == "" || containerOf(e) == found[1])
	})
	if failure == nil {
		return extended(s, "The kubelet restarts container "+found[1]+", because its "+found[2]+" probe fails")
	}
	return extended(s, "The kubelet restarts container "+found[1]+": "+failure.Message)
}

// extended returns the subject's own verdict with a further sentence from an event.
func extended(s *subject.Subject, sentence string) *verdict.Verdict {
	s.AddSource(subject.EventsRef, s.ID.Namespace())
	return s.Explain(s.Own.Severity, s.Own.Reason, s.Own.Sentence+". "+sentence, nil)
}

// isProbeFailure reports whether an event is about a failure of one of the probes, such as "Readiness".
func isProbeFailure(e *corev1.Event, probes ...string) bool {
	for _, probe := range probes {
		if e.Reason == "Unhealthy" && (strings.HasPrefix(e.Message, probe+" probe failed") ||
			strings.HasPrefix(e.Message, probe+" probe errored")) {
			return true
		}
	}
	return false
}

// containerOf returns the name of the container that an event of the kubelet is about, or "".
func containerOf(e *corev1.Event) string {
	_, name, _ := strings.Cut(e.InvolvedObject.FieldPath, "{")
	return strings.TrimSuffix(name, "}")
}

// isUnready reports whether a container runs and is not ready. An empty name means any container.
func isUnready(p *corev1.Pod, name string) bool {
	return hasContainer(p, func(c *corev1.ContainerStatus) bool {
		return (c.Name == name || name == "") && c.State.Running != nil && !c.Ready
	})
}

// killTime is the maximum time, in addition to the grace period, from the event that announces the kill of a container
// to the end of the container.
const killTime = time.Minute

// endedBy reports whether the kubelet's kill at the given time caused the last end of a container. A much later end has
// another cause: the kubelet restarted the container after the kill, and it crashed again.
func endedBy(p *corev1.Pod, name string, killed time.Time) bool {
	grace := killTime
	if seconds := p.Spec.TerminationGracePeriodSeconds; seconds != nil {
		grace += time.Duration(*seconds) * time.Second
	}
	return hasContainer(p, func(c *corev1.ContainerStatus) bool {
		end := c.State.Terminated
		if end == nil {
			end = c.LastTerminationState.Terminated
		}
		return c.Name == name && end != nil && end.Reason != "OOMKilled" && !end.FinishedAt.After(killed.Add(grace))
	})
}
