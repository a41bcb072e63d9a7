package admission

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var policyDenied = regexp.MustCompile(
	`ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request:? ?(.*)`)

func policyDenial(s *subject.Subject, message string) *verdict.Verdict {
	found := policyDenied.FindStringSubmatch(onOneLine(message))
	if found == nil {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Group: registrationGroup, Kind: "ValidatingAdmissionPolicy"}, "", found[1]))
	subject.Follow(s, &n)
	if n.Presence == neighbor.Missing {
		return nil // The policy was deleted after the failure.
	}
	n.Resource = cmp.Or(n.Resource, registrationGroup+"/v1/validatingadmissionpolicies")
	return s.ExplainBy(&n, verdict.Failed, "Denied", n.String()+" denied a new object: "+found[2])
}

// Denial returns the policy or the webhook configuration that denied a request of a controller, such as a change of the
// scale by an autoscaler, according to a sentence, or nil.
func Denial(s *subject.Subject, sentence string) *verdict.Cause {
	if subject.IsRemote(s) {
		return nil
	}
	for _, explain := range []func(*subject.Subject, string) *verdict.Verdict{policyDenial, webhookDenial} {
		if v := explain(s, sentence); v != nil {
			return &verdict.Cause{Object: v.Cause.Object, Sentence: sentence}
		}
	}
	return nil
}

func onOneLine(message string) string { return strings.Join(strings.Fields(message), " ") }
