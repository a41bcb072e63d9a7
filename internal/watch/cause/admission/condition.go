package admission

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	registration "k8s.io/api/admissionregistration/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// conditionError matches the message of the API server about a match condition of a webhook whose expression it cannot
// evaluate. The message can be a list. It does not name the webhook. A message about an admission policy has another
// form, which names the policy.
var conditionError = regexp.MustCompile(`\bis forbidden: \[?expression '(.+?)' resulted in error: (.*)`)

// conditionFailure explains a message about an expression by the only configuration of webhooks that has a match
// condition with this expression. If the failure policy of a webhook is Ignore, the API server ignores such errors.
func conditionFailure(s *subject.Subject, text string) *verdict.Verdict {
	found := conditionError.FindStringSubmatch(onOneLine(text))
	if found == nil {
		return nil
	}
	var by *neighbor.Neighbor
	name, isOnly := "", false
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		of := graph.Kind{Group: registrationGroup, Kind: kind}
		all, isComplete := subject.AllOf(s, of, "", neighbor.Limit)
		if !isComplete {
			return nil
		}
		for n := range all {
			condition := conditionWith(&all[n], found[1])
			if condition == "" {
				continue
			}
			// If this configuration changes, another one can become the only one with the expression.
			subject.Follow(s, &all[n])
			isOnly = by == nil
			by, name = &all[n], condition
		}
	}
	if !isOnly {
		return nil // Several, or none: the configuration was changed or deleted after the failure.
	}
	detail, _, _ := strings.Cut(found[2], ", expression '")
	return s.ExplainBy(by, verdict.Failed, "MatchConditionFailed", fmt.Sprintf(
		"The API server rejects requests because it cannot evaluate the match condition %s of %s: %s",
		name, by, message.Line(detail, maxDetail)))
}

// conditionWith returns the name of the first match condition with the given expression in a configuration of webhooks,
// or "". It ignores webhooks with the failure policy Ignore.
func conditionWith(configuration *neighbor.Neighbor, expression string) (name string) {
	text, _ := configuration.Object.JSON()
	if !bytes.Contains(text, []byte(`"matchConditions"`)) {
		return ""
	}
	webhooks := neighbor.Decode[registration.ValidatingWebhookConfiguration](configuration.Object).Webhooks
	for n := range webhooks {
		policy, conditions := webhooks[n].FailurePolicy, webhooks[n].MatchConditions
		at := slices.IndexFunc(conditions, func(c registration.MatchCondition) bool {
			return onOneLine(c.Expression) == expression
		})
		if at >= 0 && (policy == nil || *policy == registration.Fail) {
			return conditions[at].Name
		}
	}
	return ""
}
