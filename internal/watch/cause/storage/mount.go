package storage

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/node"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// UnboundClaim explains a pod by a PersistentVolumeClaim that has a problem or that prevents scheduling.
func UnboundClaim(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	isClaim := func(u *graph.Use) bool { return u.Target.Kind.Kind == "PersistentVolumeClaim" }
	for n := range s.Used(isClaim) {
		isPending := n.Object != nil && n.Object.Verdict().Severity() > verdict.OK
		if s.HasProblem(&n) || p.Spec.NodeName == "" && isPending {
			return s.Inherit(&n, n.Object.Verdict().Severity(), n.String()+": ")
		}
	}
	return nil
}

// MountFailure uses the newest related event to explain why a pod waits for its volumes, its network or its devices.
func MountFailure(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	last := s.NewestEvent(preventsStart)
	if last == nil {
		return nil
	}
	last = precise(s, p, last)
	if v := usedElsewhere(s, p, last); v != nil {
		return v
	}
	for _, rule := range []func(*subject.Subject, *corev1.Pod, *corev1.Event) *verdict.Verdict{
		wrongOption, unsupportedMode, unregisteredDriver, withoutProvider, absentStorage, usedByMultipath, unattached,
		stoppedServer, failedRequest, refusedCredentials, node.NetworkFailure, node.FullRange,
	} {
		if v := rule(s, p, last); v != nil {
			return v
		}
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	if missing := mention.MissingCause(s, last.Message); missing != nil {
		return s.Explain(verdict.Failed, last.Reason, last.Message, missing)
	}
	severity := s.Own.Severity
	switch last.Reason {
	case "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox": // These rarely end by themselves.
		severity = verdict.Degraded
	}
	return s.Explain(severity, last.Reason, last.Message, mention.MissingKey(s, p, last.Message))
}

// preventsStart reports whether an event describes why the node does not start a pod. It excludes warnings about DNS
// settings and pull secrets, which prevent no start. It also excludes those of the scheduler, because the pod already
// has a node.
func preventsStart(e *corev1.Event) bool {
	switch e.Reason {
	case "DNSConfigForming", "CheckLimitsForResolvConf", "MissingClusterDNS", "FailedToRetrieveImagePullSecret",
		"FailedScheduling", "PolicyViolation", "MultiplePodDisruptionBudgets", "Unhealthy", "BackOff",
		"PossibleMemoryBackedVolumesOnDisk", "Preempting":
		return false
	}
	return subject.IsWarning(e)
}

var (
	// vague matches a message that names no reason, because the kubelet only waited too long.
	vague = regexp.MustCompile(`(context deadline exceeded|timed out waiting for the condition)\s*$`)
	// usersPattern matches the pods of the same namespace that use a volume on another node.
	usersPattern = regexp.MustCompile(`already used by pod\(s\) ([a-z0-9., -]+)`)
	// volumePattern matches the name of a volume in an event. unmountedPattern matches a list of volumes in an event,
	// with their names from the pod's spec.
	volumePattern    = regexp.MustCompile(`for volume "([^"]+)"`)
	unmountedPattern = regexp.MustCompile(`\bunmounted volumes=\[([^\]]*)\]`)
)

// precise returns an older event with the reason for last, if last is a vague event about a volume. If last is not
// vague, or there is no such older event, precise returns last. The kubelet repeats an error of a mount, so only a
// recent error applies. A controller reports an error of an attachment only once, so that error applies until the
// volume is attached.
func precise(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *corev1.Event {
	isVolume := func(e *corev1.Event) bool { return e.Reason == "FailedMount" || e.Reason == "FailedAttachVolume" }
	if !isVolume(last) || !vague.MatchString(last.Message) {
		return last
	}
	oldest := neighbor.EventTime(last).Add(-subject.SettleTime)
	older := s.NewestEvent(func(e *corev1.Event) bool {
		return isVolume(e) && preventsStart(e) && !vague.MatchString(e.Message) && isSameVolume(p, e, last) &&
			(e.Reason == "FailedAttachVolume" || neighbor.EventTime(e).After(oldest))
	})
	if older == nil {
		return last
	}
	attached := s.NewestEvent(func(e *corev1.Event) bool {
		return e.Reason == "SuccessfulAttachVolume" && strings.Contains(e.Message, volumePattern.FindString(older.Message))
	})
	if older.Reason == "FailedAttachVolume" && attached != nil &&
		neighbor.EventTime(attached).After(neighbor.EventTime(older)) {
		return last
	}
	return older
}

// isSameVolume reports whether an error can be about the same volume as a later event. An event can contain the name of
// the PersistentVolume instead of the name in the spec of the pod. These two names are not compared.
func isSameVolume(p *corev1.Pod, e, last *corev1.Event) bool {
	name, other := volumePattern.FindStringSubmatch(e.Message), volumePattern.FindStringSubmatch(last.Message)
	unmounted := unmountedPattern.FindStringSubmatch(last.Message)
	switch {
	case name == nil:
		return true
	case other != nil:
		return name[1] == other[1]
	}
	isInSpec := slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name[1] })
	return unmounted == nil || !isInSpec || slices.Contains(strings.Fields(unmounted[1]), name[1])
}

// usedElsewhere explains why a pod waits for a volume: another pod uses this volume on another node.
func usedElsewhere(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	found := usersPattern.FindStringSubmatch(last.Message)
	if found == nil {
		return nil
	}
	for _, name := range strings.FieldsFunc(found[1], func(r rune) bool { return r == ',' || r == ' ' }) {
		n := s.Find(graph.NewID(graph.Kind{Kind: "Pod"}, s.ID.Namespace(), name))
		subject.Follow(s, &n)
		user := neighbor.Decode[corev1.Pod](n.Object)
		if user.Spec.NodeName == "" || user.Spec.NodeName == p.Spec.NodeName {
			continue // Skip a deleted pod, a pod on the same node, or a word after the list of names, such as "and".
		}
		s.AddSource(subject.EventsRef, last.Namespace)
		if s.HasProblem(&n) {
			return s.Inherit(&n, verdict.Degraded, subject.Sentences(last.Message, n.String()+": "))
		}
		return s.ExplainBy(&n, verdict.Degraded, last.Reason, last.Message)
	}
	return nil
}
