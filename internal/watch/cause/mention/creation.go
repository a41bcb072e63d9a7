package mention

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/admission"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// CreationFailure explains why a controller cannot create objects. It uses the API server's message about the failure.
func CreationFailure(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	if v := admission.Failure(s, failureMessage(s)); v != nil {
		return v
	}
	if v := admission.Failure(s, s.EventMessage("FailedCreate")); v != nil {
		return v
	}
	if target := s.FirstMissing(isNeededForCreation); target != nil {
		return s.ReportMissing(target, verdict.Failed)
	}
	return lastCreation(s)
}

// lastCreation explains a controller whose last attempt to create an object failed. It appends the API server's message
// to the sentence that the subject has because of its own status. Use it for kinds that report the failure only in an
// event, not in a condition.
func lastCreation(s *subject.Subject) *verdict.Verdict {
	last := lastFailure(s)
	if last == nil || failureMessage(s) != "" {
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	sentence := subject.Sentences(s.Own.Sentence, last.Message)
	return s.Explain(s.Own.Severity, last.Reason, sentence, MissingCause(s, last.Message))
}

// lastFailure returns the event about the last attempt of a controller to create an object, if the attempt failed, or
// nil. If two attempts were in the same second, their order is unknown, so lastFailure ignores the failed one.
func lastFailure(s *subject.Subject) *corev1.Event {
	last := s.NewestEvent(func(e *corev1.Event) bool { return e.Reason == "FailedCreate" })
	success := s.NewestEvent(func(e *corev1.Event) bool { return e.Reason == "SuccessfulCreate" })
	if last == nil || success != nil && !neighbor.EventTime(success).Before(neighbor.EventTime(last)) {
		return nil
	}
	return last
}

// RepeatedCreationFailure explains an object without a problem of its own whose controller repeatedly cannot create an
// object, such as the next Job of a CronJob. Only events report this.
func RepeatedCreationFailure(s *subject.Subject) *verdict.Verdict {
	last := lastFailure(s)
	if last == nil {
		return nil
	}
	isNewer := func(n neighbor.Neighbor) bool { return !n.Object.Created().Before(neighbor.EventTime(last)) }
	if slices.ContainsFunc(s.OwnedObjects(), isNewer) {
		return nil // A later attempt succeeded.
	}
	v := s.Repeated(last, "")
	if v == nil {
		return nil
	}
	if cause := admission.Failure(s, last.Message); cause != nil {
		cause.Severity = v.Severity
		return cause
	}
	v.Cause = MissingCause(s, last.Message)
	return v
}

// failureMessage returns the complete message of the API server in the conditions of a workload about failed creations,
// or "". The subject's own sentence contains only a part of it.
func failureMessage(s *subject.Subject) string {
	for _, c := range neighbor.Conditions(s.Object, metav1.ConditionTrue) {
		if c.Type == "ReplicaFailure" {
			return c.Message
		}
	}
	for _, c := range neighbor.Conditions(s.Object, metav1.ConditionFalse) {
		if c.Reason == "ReplicaSetCreateError" {
			return c.Message
		}
	}
	return ""
}

// isNeededForCreation reports whether the API server rejects new pods while the object that they use does not exist.
func isNeededForCreation(u *graph.Use) bool {
	switch u.Target.Kind.Kind {
	case "ServiceAccount", "PriorityClass", "RuntimeClass":
		return true
	}
	return false
}
