package cause

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

//nolint:gochecknoglobals // Constant.
var apiServiceKind = graph.Kind{Group: "apiregistration.k8s.io", Kind: "APIService"}

// metricsAPI matches the name of a metrics API in a message of an autoscaler, such as "from custom metrics API" or
// "get pods.metrics.k8s.io".
var metricsAPI = regexp.MustCompile(
	`\b(external|custom|resource) metrics API\b|\b((?:external\.|custom\.)?metrics\.k8s\.io)\b`)

// metricsGroups contains the API groups of the metrics APIs. The keys are the names in the messages of autoscalers.
var metricsGroups = map[string]string{ //nolint:gochecknoglobals // Constant.
	"external": "external.metrics.k8s.io", "custom": "custom.metrics.k8s.io", "resource": "metrics.k8s.io",
}

// autoscaler explains an autoscaler by its target, or by the API that provides its metrics.
func autoscaler(s *subject) *verdict.Verdict {
	if !s.own.Severity.IsProblem() && s.own.Severity != verdict.Progressing {
		return nil
	}
	isTarget := func(u *graph.Use) bool { return strings.HasSuffix(u.Via, "scaleTargetRef") }
	if target := s.firstMissing(isTarget); target != nil {
		return s.missing(verdict.Failed, target)
	}
	o := neighbor.Decode[struct {
		Status struct {
			Conditions []struct {
				Status  string `json:"status"`
				Message string `json:"message"`
			} `json:"conditions"`
		} `json:"status"`
	}](s.Object)
	for n := range o.Status.Conditions {
		found := metricsAPI.FindStringSubmatch(o.Status.Conditions[n].Message)
		if found == nil || o.Status.Conditions[n].Status != "False" {
			continue
		}
		group := cmp.Or(metricsGroups[found[1]], found[2])
		services := s.All(apiServiceKind, "", 2*neighbor.Limit)
		for n := range services {
			_, g, _ := strings.Cut(services[n].ID.Name(), ".")
			if g == group && s.hasProblem(&services[n]) {
				return s.because(verdict.Failed, &services[n], "APIService "+services[n].ID.Name()+": ")
			}
			if g == group {
				return nil
			}
		}
		n := s.Find(graph.NewID(apiServiceKind, "", "v1beta1."+group))
		if n.Presence == neighbor.Missing {
			v := s.missing(verdict.Failed, &n)
			v.Sentence = fmt.Sprintf("The cluster has no API %s: no metrics server is installed", group)
			v.Cause.Sentence = v.Sentence
			return v
		}
	}
	return nil
}

// disruptionBudget explains a budget by the pod that is not healthy.
func disruptionBudget(s *subject) *verdict.Verdict {
	if message := s.lastEvent("UnmanagedPods"); message != "" && !s.own.Severity.IsProblem() {
		return s.inherit(verdict.Degraded, "UnmanagedPods", "No disruption is ever allowed: "+message, nil)
	}
	selector := s.Selector(s.ID)
	if s.own.Severity <= verdict.OK || selector == nil {
		return nil
	}
	pods := s.find(s.Selected(s.ID.Namespace(), selector, neighbor.Limit))
	if worst := s.worst(pods); worst != nil {
		return s.because(s.own.Severity, worst, s.own.Sentence+". ")
	}
	return nil
}

type webhookConfiguration struct {
	Webhooks []struct {
		Name          string                         `json:"name"`
		ClientConfig  admission.WebhookClientConfig  `json:"clientConfig"`
		FailurePolicy *admission.FailurePolicyType   `json:"failurePolicy"`
		Rules         []admission.RuleWithOperations `json:"rules"`
	} `json:"webhooks"`
}

// webhooks explains which requests fail because a webhook does not answer.
func webhooks(s *subject) *verdict.Verdict {
	o := neighbor.Decode[webhookConfiguration](s.Object)
	for n := range o.Webhooks {
		w := &o.Webhooks[n]
		ref := w.ClientConfig.Service
		if ref == nil {
			continue
		}
		target := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, ref.Namespace, ref.Name))
		isDown := target.Presence == neighbor.Missing ||
			s.hasProblem(&target) && target.Object.Verdict().Severity() == verdict.Failed
		if !isDown {
			continue
		}
		severity, effect := verdict.Failed, "blocks "+rulesText(w.Rules)
		if w.FailurePolicy != nil && *w.FailurePolicy == admission.Ignore {
			severity, effect = verdict.Degraded, "is skipped for "+rulesText(w.Rules)
		}
		var v *verdict.Verdict
		if target.Presence == neighbor.Missing {
			v = s.missing(severity, &target)
		} else {
			v = s.because(severity, &target, "")
		}
		v.Reason = "WebhookDown"
		v.Sentence = fmt.Sprintf("Webhook %s %s: %s", w.Name, effect, v.Sentence)
		return v
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
	return strings.NewReplacer("*", "all").Replace(strings.Join(operations, ", ") + " of " + strings.Join(resources, ", "))
}

// webhook returns the configuration that contains a webhook, or nil.
func (s *subject) webhook(name string) *neighbor.Neighbor {
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		configurations := s.All(graph.Kind{Group: admissionGroup, Kind: kind}, "", neighbor.Limit)
		for n := range configurations {
			o := neighbor.Decode[webhookConfiguration](configurations[n].Object)
			for m := range o.Webhooks {
				if o.Webhooks[m].Name == name {
					return &configurations[n]
				}
			}
		}
	}
	return nil
}

// apiService explains an API by its Service.
func apiService(s *subject) *verdict.Verdict {
	if !s.own.Severity.IsProblem() && s.own.Severity != verdict.Progressing {
		return nil
	}
	uses, _ := s.References(s.ID)
	for n := range uses {
		target := s.Find(uses[n].Target)
		if target.Presence == neighbor.Missing {
			return s.missing(verdict.Failed, &target)
		}
		if s.hasProblem(&target) {
			return s.because(verdict.Failed, &target, "Service "+target.ID.Namespace()+"/"+target.ID.Name()+": ")
		}
	}
	return nil
}

// namespace explains a namespace that cannot be deleted because an API does not answer.
func namespace(s *subject) *verdict.Verdict {
	if s.own.Severity <= verdict.OK {
		return nil
	}
	o := neighbor.Decode[corev1.Namespace](s.Object)
	for n := range o.Status.Conditions {
		c := &o.Status.Conditions[n]
		remains := c.Type == corev1.NamespaceContentRemaining || c.Type == corev1.NamespaceFinalizersRemaining
		if remains && c.Status == corev1.ConditionTrue {
			return namespaceContent(s, &o)
		}
	}
	for n := range o.Status.Conditions {
		c := &o.Status.Conditions[n]
		if c.Type != corev1.NamespaceDeletionDiscoveryFailure || c.Status != corev1.ConditionTrue {
			continue
		}
		services := s.All(apiServiceKind, "", 2*neighbor.Limit)
		if worst := s.worst(services); worst != nil {
			return s.because(verdict.Degraded, worst, "Cannot be deleted, because APIService "+worst.ID.Name()+" fails: ")
		}
	}
	return nil
}

// binding reports a binding that grants nothing, because its role does not exist.
func binding(s *subject) *verdict.Verdict {
	target := s.firstMissing(func(u *graph.Use) bool { return u.Via == "roleRef" })
	if target == nil {
		return nil
	}
	v := s.missing(verdict.Degraded, target)
	v.Sentence = "Grants nothing: " + v.Sentence
	return v
}

// definition explains a CustomResourceDefinition that cannot be deleted, or whose conversion webhook does not answer.
func definition(s *subject) *verdict.Verdict {
	if v := definitionInstances(s); v != nil {
		return v
	}
	uses, _ := s.References(s.ID)
	for n := range uses {
		target := s.Find(uses[n].Target)
		if !strings.HasPrefix(uses[n].Via, "spec.conversion") {
			continue
		}
		const effect = "Objects cannot be converted between versions: "
		var v *verdict.Verdict
		switch {
		case target.Presence == neighbor.Missing:
			v = s.missing(verdict.Failed, &target)
		case s.hasProblem(&target) && target.Object.Verdict().Severity() == verdict.Failed:
			v = s.because(verdict.Failed, &target, "")
		default:
			continue
		}
		v.Reason, v.Sentence = "ConversionWebhookDown", effect+v.Sentence
		return v
	}
	return nil
}

// application explains an Application of Argo CD by the first of its resources that does not work.
func application(s *subject) *verdict.Verdict {
	if !s.own.Severity.IsProblem() && s.own.Severity != verdict.Progressing {
		return nil
	}
	o := neighbor.Decode[struct {
		Status struct {
			Resources []struct {
				Group     string `json:"group"`
				Kind      string `json:"kind"`
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"resources"`
		} `json:"status"`
	}](s.Object)
	var managed []neighbor.Neighbor
	for _, r := range o.Status.Resources[:min(neighbor.Limit, len(o.Status.Resources))] {
		managed = append(managed, s.Find(graph.NewID(graph.Kind{Group: r.Group, Kind: r.Kind}, r.Namespace, r.Name)))
	}
	if worst := s.worst(managed); worst != nil {
		return s.because(s.own.Severity, worst, worst.ID.Kind.Kind+" "+worst.ID.Name()+": ")
	}
	return custom(s)
}

// custom explains a custom resource by a missing object, by what it uses, or by what it owns.
func custom(s *subject) *verdict.Verdict {
	if s.own.Severity != verdict.OK {
		if target := s.firstMissing(nil); target != nil && (target.Resource != "" || s.own.Severity.IsProblem()) {
			severity := verdict.Degraded
			if s.own.Severity == verdict.Progressing {
				severity = verdict.Failed
			}
			return s.missing(severity, target)
		}
		uses, _ := s.References(s.ID)
		var used []neighbor.Neighbor
		for n := range uses {
			used = append(used, s.Find(uses[n].Target))
		}
		if worst := s.worst(used); worst != nil && s.own.Severity > verdict.OK {
			return s.because(verdict.Degraded, worst, worst.ID.Kind.Kind+" "+worst.ID.Name()+": ")
		}
	}
	if worst := s.worst(s.owned()); worst != nil {
		return s.because(verdict.Degraded, worst, worst.ID.Kind.Kind+" "+worst.ID.Name()+": ")
	}
	return named(s)
}
