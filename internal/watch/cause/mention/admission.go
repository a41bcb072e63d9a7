package mention

import (
	"cmp"
	"regexp"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	admissionGroup = "admissionregistration.k8s.io"
	// failedCall is the start of the API server's error about a webhook that it cannot call.
	failedCall = "failed calling webhook "
)

var (
	quotaPattern = regexp.MustCompile(`(?:exceeded|failed|status unknown for) quota: ([a-z0-9.-]+)`)
	limitPattern = regexp.MustCompile(
		`(?:maximum|minimum) (?:cpu|memory|storage|[a-z./-]+) usage per (?:Container|Pod|PersistentVolumeClaim)`)
	webhookPattern = regexp.MustCompile(failedCall + `\\*"([^"\\]+)`)
	policyDenied   = regexp.MustCompile(
		`ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request:? ?(.*)`)
	webhookDenied = regexp.MustCompile(`admission webhook "([^"]+)" denied the request:? ?(.*)`)
)

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

func limitFailure(s *subject.Subject, message string) *verdict.Verdict {
	limit := limitPattern.FindStringIndex(message)
	if limit == nil {
		return nil
	}
	ranges := s.All(graph.Kind{Kind: "LimitRange"}, s.ID.Namespace(), neighbor.Limit)
	if len(ranges) == 0 {
		return nil
	}
	sentence := " rejected a new object: " + strings.TrimSpace(message[limit[0]:])
	if len(ranges) > 1 {
		s.AddSource(ranges[0].Resource, s.ID.Namespace()) // Any LimitRange of the namespace can be the cause.
		return s.Explain(verdict.Failed, "LimitRange", "A LimitRange"+sentence, nil)
	}
	return s.ExplainBy(&ranges[0], verdict.Failed, "LimitRange", ranges[0].String()+sentence)
}

func webhookFailure(s *subject.Subject, text string) *verdict.Verdict {
	webhook := firstGroup(webhookPattern, text)
	configuration, server := configurationOf(s, webhook)
	if configuration == nil || subject.IsRemote(s) || server != nil && subject.IsSelectedBy(s, *server) {
		return nil // The webhook is in another cluster, or the subject is a pod that serves the webhook.
	}
	sentence := "Webhook " + webhook + " cannot be called, so the API server rejects matching objects"
	if s.HasProblem(configuration) {
		return s.Inherit(configuration, verdict.Failed, sentence+": ")
	}
	_, call, _ := strings.Cut(text, failedCall)
	_, problem, _ := strings.Cut(message.Admission(failedCall+call), ": ")
	return s.ExplainBy(configuration, verdict.Failed, "WebhookFailed", strings.TrimSuffix(sentence+": "+problem, ": "))
}

// DeletionFailure explains a message of the API server, which did not delete an object because of a webhook or a
// policy.
func DeletionFailure(s *subject.Subject, message string) *verdict.Verdict {
	for _, explain := range []func(*subject.Subject, string) *verdict.Verdict{
		webhookFailure, webhookDenial, policyDenial, conversionFailure,
	} {
		if v := explain(s, message); v != nil {
			v.Severity = s.Own.Severity
			v.Sentence = strings.NewReplacer(
				"rejects matching objects", "rejects matching deletions", "denied a new object", "denied a deletion",
			).Replace(v.Sentence)
			return v
		}
	}
	return nil
}

// conversionPattern matches the API group and the kind of an object that a conversion webhook cannot convert.
var conversionPattern = regexp.MustCompile(`conversion webhook for ([a-z0-9.-]+)/[a-z0-9]+, Kind=([A-Za-z]+) failed`)

// conversionFailure explains a failed request: the conversion webhook of a CustomResourceDefinition failed.
func conversionFailure(s *subject.Subject, message string) *verdict.Verdict {
	found := conversionPattern.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	namespace := cmp.Or(s.ID.Namespace(), s.ID.Name()) // The subject itself can be the namespace.
	for _, n := range s.Named(s.ID, &neighbor.Mention{
		Kind: found[2], Group: found[1], Namespace: namespace, Name: "-",
	}) {
		plural := n.Resource[strings.LastIndexByte(n.Resource, '/')+1:]
		kind := graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
		definition := s.Find(graph.NewID(kind, "", plural+"."+found[1]))
		sentence := "The conversion webhook of kind " + found[2] + " failed, so objects cannot be converted between versions"
		switch {
		case definition.Object == nil:
		case s.HasProblem(&definition):
			return s.Inherit(&definition, verdict.Degraded, definition.String()+": ")
		default:
			return s.ExplainBy(&definition, verdict.Degraded, "ConversionFailed", sentence)
		}
	}
	return nil
}

func webhookDenial(s *subject.Subject, message string) *verdict.Verdict {
	found := webhookDenied.FindStringSubmatch(onOneLine(message))
	if found == nil {
		return nil
	}
	configuration, _ := configurationOf(s, found[1])
	if configuration == nil {
		return nil
	}
	subject.Follow(s, configuration)
	return s.ExplainBy(configuration, verdict.Failed, "Denied", "Webhook "+found[1]+" denied a new object: "+found[2])
}

func policyDenial(s *subject.Subject, message string) *verdict.Verdict {
	found := policyDenied.FindStringSubmatch(onOneLine(message))
	if found == nil {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Group: admissionGroup, Kind: "ValidatingAdmissionPolicy"}, "", found[1]))
	subject.Follow(s, &n)
	if n.Presence == neighbor.Missing {
		return nil // The policy was deleted after the failure.
	}
	n.Resource = cmp.Or(n.Resource, admissionGroup+"/v1/validatingadmissionpolicies")
	return s.ExplainBy(&n, verdict.Failed, "Denied", n.String()+" denied a new object: "+found[2])
}

// denial returns the policy or the webhook configuration that denied a request of a controller, such as a change of the
// scale by an autoscaler, according to a sentence, or nil.
func denial(s *subject.Subject, sentence string) *verdict.Cause {
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

// configurationOf returns the configuration that contains a webhook, and the Service of the webhook. Each can be nil.
func configurationOf(s *subject.Subject, webhook string) (configuration *neighbor.Neighbor, server *graph.ID) {
	if webhook == "" {
		return nil, nil
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		configurations := s.All(graph.Kind{Group: admissionGroup, Kind: kind}, "", neighbor.Limit)
		for n := range configurations {
			o := neighbor.Decode[struct {
				Webhooks []struct {
					Name         string `json:"name"`
					ClientConfig struct {
						Service *admission.ServiceReference `json:"service"`
					} `json:"clientConfig"`
				} `json:"webhooks"`
			}](configurations[n].Object)
			for m := range o.Webhooks {
				if o.Webhooks[m].Name != webhook {
					continue
				}
				if of := o.Webhooks[m].ClientConfig.Service; of != nil {
					id := graph.NewID(graph.Kind{Kind: "Service"}, of.Namespace, of.Name)
					server = &id
				}
				return &configurations[n], server
			}
		}
	}
	return nil, nil
}
