package admission

import (
	"cmp"
	"regexp"
	"strings"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// failedCall is the start of the API server's error about a webhook that it cannot call.
const failedCall = "failed calling webhook "

var (
	webhookPattern = regexp.MustCompile(failedCall + `\\*"([^"\\]+)`)
	webhookDenied  = regexp.MustCompile(`admission webhook "([^"]+)" denied the request:? ?(.*)`)
)

// WebhookFailure explains a message of the API server, which cannot call a webhook.
func WebhookFailure(s *subject.Subject, text string) *verdict.Verdict {
	webhook := firstGroup(webhookPattern, text)
	configuration, server := configurationOf(s, webhook, text)
	if configuration == nil || subject.IsRemote(s) || server != nil && subject.IsSelectedBy(s, *server) {
		return nil // The webhook is in another cluster, or the subject is a pod that serves the webhook.
	}
	sentence := "Webhook " + webhook + " cannot be called, so the API server rejects matching objects"
	// The verdict of the configuration can be about another of its webhooks.
	of := configuration.Object.Verdict().Unpack().Sentence
	if s.HasProblem(configuration) && strings.HasPrefix(of, "Webhook "+webhook+" ") {
		return s.Inherit(configuration, verdict.Failed, sentence+": ")
	}
	_, call, _ := strings.Cut(text, failedCall)
	_, problem, _ := strings.Cut(message.Admission(failedCall+call), ": ")
	return s.ExplainBy(configuration, verdict.Failed, "WebhookFailed", strings.TrimSuffix(sentence+": "+problem, ": "))
}

func webhookDenial(s *subject.Subject, text string) *verdict.Verdict {
	found := webhookDenied.FindStringSubmatch(onOneLine(text))
	if found == nil {
		return nil
	}
	configuration, _ := configurationOf(s, found[1], text)
	if configuration == nil {
		return nil
	}
	subject.Follow(s, configuration)
	return denied(s, configuration, "Webhook "+found[1], found[2])
}

// configurationOf returns the configuration that contains a webhook, and the Service of the webhook. Each can be nil.
// If several configurations contain a webhook with this name, it prefers the webhook whose URL is in the text.
func configurationOf(s *subject.Subject, webhook, text string) (configuration *neighbor.Neighbor, server *graph.ID) {
	if webhook == "" {
		return nil, nil
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		configurations := s.All(graph.Kind{Group: registrationGroup, Kind: kind}, "", neighbor.Limit)
		for n := range configurations {
			o := neighbor.Decode[struct {
				Webhooks []struct {
					Name         string `json:"name"`
					ClientConfig struct {
						Service *registration.ServiceReference `json:"service"`
					} `json:"clientConfig"`
				} `json:"webhooks"`
			}](configurations[n].Object)
			for m := range o.Webhooks {
				of := o.Webhooks[m].ClientConfig.Service
				isCalled := isInURL(of, text)
				if o.Webhooks[m].Name != webhook || configuration != nil && !isCalled {
					continue
				}
				if configuration, server = &configurations[n], serverOf(of); isCalled {
					return configuration, server
				}
			}
		}
	}
	return configuration, server
}

// isInURL reports whether a message contains the URL at which the API server calls the Service of a webhook.
func isInURL(service *registration.ServiceReference, text string) bool {
	return service != nil && strings.Contains(text, "https://"+service.Name+"."+service.Namespace+".svc:") &&
		strings.Contains(text, ptr.Deref(service.Path, "/")+"?timeout=")
}

func serverOf(service *registration.ServiceReference) *graph.ID {
	if service == nil {
		return nil
	}
	id := graph.NewID(graph.Kind{Kind: "Service"}, service.Namespace, service.Name)
	return &id
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
