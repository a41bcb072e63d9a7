package mention

import (
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	accountPattern = regexp.MustCompile(
		`serviceaccounts? "([a-z0-9.-]+)" not found|error looking up service account [a-z0-9-]+/([a-z0-9.-]+)`)
	priorityPattern = regexp.MustCompile(`no PriorityClass with name ([a-z0-9.-]+) was found`)
	runtimePattern  = regexp.MustCompile(`RuntimeClass "([a-z0-9.-]+)" not found`)
)

// CreationFailure explains why a controller cannot create objects, by the message of the API server.
func CreationFailure(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	if v := AdmissionFailure(s, failureMessage(s)+" "+s.EventMessage("FailedCreate")); v != nil {
		return v
	}
	if target := s.FirstMissing(isNeededForCreation); target != nil {
		return s.ReportMissing(target, verdict.Failed)
	}
	return nil
}

// AdmissionFailure explains a message of the API server, which did not admit a new object.
func AdmissionFailure(s *subject.Subject, message string) *verdict.Verdict {
	for _, explain := range []func(*subject.Subject, string) *verdict.Verdict{
		quotaFailure, webhookFailure, limitFailure, policyDenial, webhookDenial, missingForCreation,
		conversionFailure, takenName,
	} {
		if v := explain(s, message); v != nil {
			return v
		}
	}
	return nil
}

// failureMessage returns the message of the API server in the condition ReplicaFailure, or "". The subject's own
// sentence contains only a part of the message.
func failureMessage(s *subject.Subject) string {
	for _, c := range neighbor.Conditions(s.Object, metav1.ConditionTrue) {
		if c.Type == "ReplicaFailure" {
			return c.Message
		}
	}
	return ""
}

// missingForCreation explains a failure by a missing object that the API server names.
func missingForCreation(s *subject.Subject, message string) *verdict.Verdict {
	namespace := s.ID.Namespace()
	for _, id := range []graph.ID{
		graph.NewID(graph.Kind{Kind: "ServiceAccount"}, namespace, firstGroup(accountPattern, message)),
		graph.NewID(graph.Kind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, "", firstGroup(priorityPattern, message)),
		graph.NewID(graph.Kind{Group: "node.k8s.io", Kind: "RuntimeClass"}, "", firstGroup(runtimePattern, message)),
	} {
		if id.Name() == "" {
			continue
		}
		if n := s.Find(id); n.Presence != neighbor.Present {
			return s.ReportMissing(&n, verdict.Failed)
		}
	}
	return nil
}

// isNeededForCreation reports whether the API server rejects pods without the object.
func isNeededForCreation(u *graph.Use) bool {
	switch u.Target.Kind.Kind {
	case "ServiceAccount", "PriorityClass", "RuntimeClass":
		return true
	}
	return false
}
