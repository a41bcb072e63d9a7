// Package admission explains requests that the API server rejected: because of quotas, limits, policies, webhooks, or
// objects that are missing.
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

// registrationGroup is the API group of policies and of the configurations of webhooks.
const registrationGroup = "admissionregistration.k8s.io"

var quotaPattern = regexp.MustCompile(`(?:exceeded|failed|status unknown for) quota: ([a-z0-9.-]+)`)

// Failure explains a message of the API server, which did not admit a new object. It ignores the message of an API
// server of another cluster.
func Failure(s *subject.Subject, message string) *verdict.Verdict {
	if message == "" || subject.IsRemote(s) {
		return nil
	}
	for _, explain := range []func(*subject.Subject, string) *verdict.Verdict{
		quotaFailure, WebhookFailure, limitFailure, pathInUse, engineDenial, policyDenial, webhookDenial,
		conditionFailure, podSecurityDenial, missingForCreation, conversionFailure, takenName, deletedNamespace,
	} {
		if v := explain(s, message); v != nil {
			return v
		}
	}
	return nil
}

// DeletionFailure explains a message of the API server, which did not delete an object because of a webhook or a
// policy.
func DeletionFailure(s *subject.Subject, message string) *verdict.Verdict {
	for _, explain := range []func(*subject.Subject, string) *verdict.Verdict{
		WebhookFailure, engineDenial, webhookDenial, policyDenial, conditionFailure, conversionFailure,
	} {
		if v := explain(s, message); v != nil {
			v.Severity = s.Own.Severity
			v.Sentence = strings.NewReplacer(
				"rejects matching objects", "rejects matching deletions", "denied a request", "denied a deletion",
			).Replace(v.Sentence)
			return v
		}
	}
	return nil
}

// firstGroup searches a text for a pattern. It returns the first capture group that is not empty, or "".
func firstGroup(pattern *regexp.Regexp, text string) string {
	groups := pattern.FindStringSubmatch(text)
	if groups == nil {
		return ""
	}
	return cmp.Or(groups[1:]...)
}

func quotaFailure(s *subject.Subject, message string) *verdict.Verdict {
	quota := firstGroup(quotaPattern, message)
	if quota == "" {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "ResourceQuota"}, s.ID.Namespace(), quota))
	if n.Presence == neighbor.Missing {
		return nil // The quota was deleted after the failure.
	}
	n.Resource = cmp.Or(n.Resource, "core/v1/resourcequotas")
	before, detail, _ := strings.Cut(message, "quota: "+quota)
	effect := " rejected a new object: "
	if strings.HasSuffix(before, "status unknown for ") {
		effect = " has no status yet, so the API server rejects new objects with these "
	}
	sentence := "ResourceQuota " + quota + effect + strings.TrimSpace(strings.TrimLeft(detail, ",: "))
	return s.ExplainBy(&n, verdict.Failed, "ExceededQuota", sentence)
}
