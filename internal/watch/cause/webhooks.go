package cause

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/admission"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// webhook is one webhook of a configuration.
type webhook struct {
	Name              string                            `json:"name"`
	ClientConfig      calledService                     `json:"clientConfig"`
	FailurePolicy     *registration.FailurePolicyType   `json:"failurePolicy"`
	Rules             []registration.RuleWithOperations `json:"rules"`
	NamespaceSelector metav1.LabelSelector              `json:"namespaceSelector"`
	ObjectSelector    metav1.LabelSelector              `json:"objectSelector"`
	MatchConditions   []registration.MatchCondition     `json:"matchConditions"`
}

// isIgnored reports whether the API server accepts a request if it cannot call the webhook.
func (w *webhook) isIgnored() bool {
	return ptr.Deref(w.FailurePolicy, registration.Fail) == registration.Ignore
}

// webhooks explains which requests fail because a webhook does not respond, or because its certificate is not trusted.
// If several webhooks have a problem, it reports one that blocks requests, if there is one.
func webhooks(s *subject.Subject) *verdict.Verdict {
	all := neighbor.Decode[struct {
		Webhooks []webhook `json:"webhooks"`
	}](s.Object).Webhooks
	for _, isIgnored := range []bool{false, true} {
		for n := range all {
			// The API server never calls a webhook without rules.
			if w := &all[n]; w.isIgnored() == isIgnored && len(w.Rules) > 0 {
				if v := brokenWebhook(s, w); v != nil {
					return v
				}
			}
		}
	}
	return nil
}

func brokenWebhook(s *subject.Subject, w *webhook) *verdict.Verdict {
	severity, effect := verdict.Failed, "blocks "
	if w.isIgnored() {
		severity, effect = verdict.Degraded, "is skipped for "
	}
	v := w.ClientConfig.webhookDown(s, severity)
	if v == nil && w.ClientConfig.Service != nil {
		n := w.ClientConfig.find(s)
		v = api.BlockedWebhook(s, w.Name, &n, severity)
	}
	if v == nil {
		v = admission.Untrusted(s, w.Name, w.ClientConfig.CABundle, severity)
	}
	if v != nil {
		v.Reason = "WebhookDown"
		v.Sentence = fmt.Sprintf("Webhook %s %s%s%s: %s", w.Name, effect, rulesText(w.Rules), w.scopeText(), v.Sentence)
	}
	return v
}

// scopeText states that the webhook is not called for all objects that its rules name, or returns "".
func (w *webhook) scopeText() (text string) {
	isUsed := func(s *metav1.LabelSelector) bool { return len(s.MatchLabels) > 0 || len(s.MatchExpressions) > 0 }
	if isUsed(&w.NamespaceSelector) || isUsed(&w.ObjectSelector) {
		text = " that its selectors match" // A selector of namespaces matches all objects without a namespace.
	}
	if len(w.MatchConditions) > 0 {
		text += " if they meet its match conditions"
	}
	return text
}

func rulesText(rules []registration.RuleWithOperations) string {
	var operations, resources []string
	for n := range rules {
		for _, operation := range rules[n].Operations {
			if text := strings.ToLower(string(operation)); !slices.Contains(operations, text) {
				operations = append(operations, text)
			}
		}
		for _, resource := range rules[n].Resources {
			if resource == "*" || resource == "*/*" {
				resource = "all resources" + groupsText(rules[n].APIGroups)
			}
			if !slices.Contains(resources, resource) {
				resources = append(resources, resource)
			}
		}
	}
	if slices.Contains(operations, "*") {
		operations = []string{"all"}
	}
	if len(resources) > 4 {
		resources = append(resources[:4], fmt.Sprintf("%d more", len(resources)-4))
	}
	return strings.Join(operations, ", ") + " requests for " + strings.Join(resources, ", ")
}

// groupsText returns the API groups of a rule as text, or "" if the rule applies to all groups.
func groupsText(groups []string) string {
	if len(groups) == 0 || slices.Contains(groups, "*") {
		return ""
	}
	names := make([]string, 0, len(groups))
	for _, group := range groups {
		names = append(names, cmp.Or(group, "core"))
	}
	if len(names) == 1 {
		return " in API group " + names[0]
	}
	return " in API groups " + strings.Join(names, ", ")
}

// definition explains a CustomResourceDefinition that cannot be deleted, or whose conversion webhook does not respond.
func definition(s *subject.Subject) *verdict.Verdict {
	if v := remainingInstances(s); v != nil {
		return v
	}
	conversion := neighbor.Decode[struct {
		Spec struct {
			Conversion struct {
				Webhook struct {
					ClientConfig calledService `json:"clientConfig"`
				} `json:"webhook"`
			} `json:"conversion"`
		} `json:"spec"`
	}](s.Object).Spec.Conversion.Webhook.ClientConfig
	v := conversion.webhookDown(s, verdict.Failed)
	if v != nil {
		v.Reason = "ConversionWebhookDown"
		v.Sentence = "Objects cannot be converted between versions: " + v.Sentence
	}
	return v
}

// calledService is the Service that the API server calls for a webhook or for an APIService.
type calledService struct {
	Service  *registration.ServiceReference `json:"service"` // Nil for a URL, or for an API of the API server itself.
	CABundle []byte                         `json:"caBundle"`
}

func (c *calledService) find(s *subject.Subject) neighbor.Neighbor {
	return s.Find(graph.NewID(graph.Kind{Kind: "Service"}, c.Service.Namespace, c.Service.Name))
}

// webhookDown returns a verdict if the API server cannot call the Service of a webhook, or can trust no certificate of
// it, otherwise nil.
func (c *calledService) webhookDown(s *subject.Subject, severity verdict.Severity) *verdict.Verdict {
	if c.Service == nil {
		return nil
	}
	n := c.find(s)
	if v := c.serviceDown(s, &n, severity); v != nil {
		return v
	}
	if v := admission.NotInjected(s, c.CABundle, severity); v != nil {
		return v
	}
	return untrusted(s, c.CABundle, severity)
}

// defaultPort is the port at which the API server calls a Service if the reference to the Service has no port.
const defaultPort = 443

// serviceDown returns a verdict if the Service n does not exist, lacks the port that c calls, or is failed; else nil.
// It does not check the ports of an ExternalName or headless Service, because the API server does not.
func (c *calledService) serviceDown(
	s *subject.Subject, n *neighbor.Neighbor, severity verdict.Severity,
) *verdict.Verdict {
	number := int32(defaultPort)
	if c.Service.Port != nil {
		number = *c.Service.Port
	}
	switch o := neighbor.Decode[corev1.Service](n.Object); {
	case n.Presence == neighbor.Missing:
		return s.ReportMissing(n, severity)
	case n.Object == nil:
		return nil
	case o.Spec.Type != corev1.ServiceTypeExternalName && o.Spec.ClusterIP != corev1.ClusterIPNone &&
		!slices.ContainsFunc(o.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == number }):
		return s.ExplainBy(n, severity, "NoSuchPort", fmt.Sprintf("%s has no port %d", s.Name(n), number))
	case s.IsFailed(n):
		return s.Inherit(n, severity, "")
	}
	return nil
}

// untrusted reports a CA bundle with only expired certificates: the API server trusts no webhook that uses it.
func untrusted(s *subject.Subject, bundle []byte, severity verdict.Severity) *verdict.Verdict {
	var expiry time.Time
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil
		}
		if c.NotAfter.After(expiry) {
			expiry = c.NotAfter
		}
	}
	if expiry.IsZero() || !subject.HasPassed(s, expiry) {
		return nil
	}
	return subject.ExplainAlone(s, severity, "CertificateExpired",
		"All certificates in the caBundle of the webhook have expired, the last one at "+
			expiry.UTC().Format(time.RFC3339))
}
