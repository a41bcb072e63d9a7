package cause

import (
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

var (
	policyDenial = regexp.MustCompile(
		`ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request:? ?(.*)`)
	webhookDenial = regexp.MustCompile(`admission webhook "([^"]+)" denied the request:? ?(.*)`)
)

// denied explains why the API server denied new objects by the policy or the webhook that its message names.
func denied(s *subject, message string) *verdict.Verdict {
	message = strings.Join(strings.Fields(message), " ")
	if found := policyDenial.FindStringSubmatch(message); found != nil {
		kind := graph.Kind{Group: admissionGroup, Kind: "ValidatingAdmissionPolicy"}
		n := s.Find(graph.NewID(kind, "", found[1]))
		if n.Presence == neighbor.Missing {
			return nil // It was deleted.
		}
		sentence := "ValidatingAdmissionPolicy " + found[1] + " denied new objects: " + found[2]
		return s.inherit(verdict.Failed, "Denied", sentence, &verdict.Cause{
			Object: withResource(neighbor.ObjectOf(&n), admissionGroup+"/v1/validatingadmissionpolicies"), Sentence: sentence,
		})
	}
	found := webhookDenial.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	configuration := s.webhook(found[1])
	if configuration == nil {
		return nil
	}
	sentence := "Webhook " + found[1] + " denied new objects: " + found[2]
	return s.inherit(verdict.Failed, "Denied", sentence, &verdict.Cause{
		Object: neighbor.ObjectOf(configuration), Sentence: sentence,
	})
}
