package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

//nolint:gochecknoglobals // Constant.
var apiServiceKind = graph.Kind{Group: "apiregistration.k8s.io", Kind: "APIService"}

// apiService explains an API by its Service.
func apiService(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	for target := range s.Used(nil) {
		if target.Presence == neighbor.Missing {
			return s.ReportMissing(&target, verdict.Failed)
		}
		if s.HasProblem(&target) {
			name := target.ID.Namespace() + "/" + target.ID.Name()
			return s.Inherit(&target, verdict.Failed, "Service "+name+": ")
		}
		o := neighbor.Decode[struct {
			Spec struct {
				Service admission.ServiceReference `json:"service"`
			} `json:"spec"`
		}](s.Object)
		if v := missingServicePort(s, &target, o.Spec.Service.Port, verdict.Failed); v != nil {
			v.Reason = cmp.Or(s.Own.Reason, v.Reason)
			v.Sentence = "Not available: " + v.Sentence
			return v
		}
	}
	return nil
}

// missingServicePort returns a verdict if a Service does not have the port to which the API server sends requests. A
// port that is not set is 443. The API server does not check the ports of an ExternalName or headless Service.
func missingServicePort(
	s *subject.Subject, n *neighbor.Neighbor, port *int32, severity verdict.Severity,
) *verdict.Verdict {
	number := int32(443)
	if port != nil {
		number = *port
	}
	o := neighbor.Decode[corev1.Service](n.Object)
	if n.Object == nil || o.Spec.Type == corev1.ServiceTypeExternalName || o.Spec.ClusterIP == corev1.ClusterIPNone ||
		slices.ContainsFunc(o.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == number }) {
		return nil
	}
	sentence := fmt.Sprintf("Service %s/%s has no port %d", n.ID.Namespace(), n.ID.Name(), number)
	return s.ExplainBy(n, severity, "NoSuchPort", sentence)
}

// autoscaler explains an autoscaler by its target, or by the API that provides its metrics.
func autoscaler(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity <= verdict.OK {
		return nil
	}
	if target := s.FirstMissing(subject.In("spec.scaleTargetRef")); target != nil {
		return s.ReportMissing(target, verdict.Failed)
	}
	if target := s.FirstMissing(subject.In("spec.metrics")); target != nil {
		return s.ReportMissing(target, verdict.Degraded) // Of several metrics, others possibly work.
	}
	for _, c := range neighbor.Conditions(s.Object, metav1.ConditionFalse) {
		group := mention.MetricsAPI(c.Message)
		if group == "" {
			continue
		}
		services := s.All(apiServiceKind, "", 2*neighbor.Limit)
		servesGroup := func(n neighbor.Neighbor) bool {
			_, of, _ := strings.Cut(n.ID.Name(), ".")
			return of == group
		}
		if at := slices.IndexFunc(services, servesGroup); at >= 0 {
			if !s.HasProblem(&services[at]) {
				return nil
			}
			return s.Inherit(&services[at], verdict.Failed, services[at].String()+": ")
		}
		n := s.Find(graph.NewID(apiServiceKind, "", "v1beta1."+group))
		if n.Presence == neighbor.Missing {
			v := s.ReportMissing(&n, verdict.Failed)
			v.Sentence = fmt.Sprintf("The cluster has no API %s: no metrics server is installed", group)
			v.Cause.Sentence = v.Sentence
			return v
		}
	}
	return nil
}

// webhooks explains which requests fail because a webhook does not answer.
func webhooks(s *subject.Subject) *verdict.Verdict {
	o := neighbor.Decode[struct {
		Webhooks []struct {
			Name          string                         `json:"name"`
			ClientConfig  admission.WebhookClientConfig  `json:"clientConfig"`
			FailurePolicy *admission.FailurePolicyType   `json:"failurePolicy"`
			Rules         []admission.RuleWithOperations `json:"rules"`
		} `json:"webhooks"`
	}](s.Object)
	for n := range o.Webhooks {
		w := &o.Webhooks[n]
		ref := w.ClientConfig.Service
		if ref == nil {
			continue
		}
		severity, effect := verdict.Failed, "blocks "
		if w.FailurePolicy != nil && *w.FailurePolicy == admission.Ignore {
			severity, effect = verdict.Degraded, "is skipped for "
		}
		target := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, ref.Namespace, ref.Name))
		if v := serviceDown(s, &target, ref.Port, severity); v != nil {
			v.Reason = "WebhookDown"
			v.Sentence = fmt.Sprintf("Webhook %s %s%s: %s", w.Name, effect, rulesText(w.Rules), v.Sentence)
			return v
		}
	}
	return nil
}

func rulesText(rules []admission.RuleWithOperations) string {
	var operations, resources []string
	for n := range rules {
		for _, operation := range rules[n].Operations {
			if text := strings.ToLower(string(operation)); !slices.Contains(operations, text) {
				operations = append(operations, text)
			}
		}
		for _, resource := range rules[n].Resources {
			if !slices.Contains(resources, resource) {
				resources = append(resources, resource)
			}
		}
	}
	if len(resources) > 4 {
		resources = append(resources[:4], fmt.Sprintf("%d more", len(resources)-4))
	}
	return strings.ReplaceAll(strings.Join(operations, ", ")+" of "+strings.Join(resources, ", "), "*", "all")
}

// definition explains a CustomResourceDefinition that cannot be deleted, or whose conversion webhook does not answer.
func definition(s *subject.Subject) *verdict.Verdict {
	if v := remainingInstances(s); v != nil {
		return v
	}
	o := neighbor.Decode[struct {
		Spec struct {
			Conversion struct {
				Webhook struct {
					ClientConfig admission.WebhookClientConfig `json:"clientConfig"`
				} `json:"webhook"`
			} `json:"conversion"`
		} `json:"spec"`
	}](s.Object)
	if ref := o.Spec.Conversion.Webhook.ClientConfig.Service; ref != nil {
		target := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, ref.Namespace, ref.Name))
		if v := serviceDown(s, &target, ref.Port, verdict.Failed); v != nil {
			v.Reason = "ConversionWebhookDown"
			v.Sentence = "Objects cannot be converted between versions: " + v.Sentence
			return v
		}
	}
	return nil
}

// serviceDown returns the verdict for a Service of the subject that does not exist, that is failed, or that does not
// have the port; otherwise nil.
func serviceDown(
	s *subject.Subject, n *neighbor.Neighbor, port *int32, severity verdict.Severity,
) *verdict.Verdict {
	switch {
	case n.Presence == neighbor.Missing:
		return s.ReportMissing(n, severity)
	case s.IsFailed(n):
		return s.Inherit(n, severity, "")
	}
	return missingServicePort(s, n, port, severity)
}
