package cause

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

var (
	quotaPattern = regexp.MustCompile(`(?:exceeded|failed) quota: ([a-z0-9.-]+)`)
	limitPattern = regexp.MustCompile(
		`(?:maximum|minimum) (?:cpu|memory|storage|[a-z./-]+) usage per (?:Container|Pod|PersistentVolumeClaim)`)
	accountPattern = regexp.MustCompile(
		`serviceaccounts? "([a-z0-9.-]+)" not found|error looking up service account [a-z0-9-]+/([a-z0-9.-]+)`)
	webhookPattern = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
	priorityClass  = regexp.MustCompile(`no PriorityClass with name ([a-z0-9.-]+) was found`)
	runtimeClass   = regexp.MustCompile(`RuntimeClass "([a-z0-9.-]+)" not found`)
)

// creationFailure explains why a controller cannot create objects, from the message of the API server.
func (s *subject) creationFailure() *verdict.Verdict {
	if s.own.Severity < verdict.Progressing {
		return nil
	}
	message := s.failureMessage() + " " + s.lastEvent("FailedCreate")
	for _, explain := range []func(*subject, string) *verdict.Verdict{
		quotaFailure, webhookFailure, limitFailure, denied, missingForCreation,
	} {
		if v := explain(s, message); v != nil {
			return v
		}
	}
	if target := s.firstMissing(isNeededForCreation); target != nil {
		return s.missing(verdict.Failed, target)
	}
	return nil
}

// firstGroup matches a pattern with a text. It returns the first capture group that is not empty, or "".
func firstGroup(pattern *regexp.Regexp, text string) string {
	groups := pattern.FindStringSubmatch(text)
	if groups == nil {
		return ""
	}
	return cmp.Or(groups[1:]...)
}

func quotaFailure(s *subject, message string) *verdict.Verdict {
	quota := firstGroup(quotaPattern, message)
	if quota == "" {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "ResourceQuota"}, s.ID.Namespace(), quota))
	if n.Presence == neighbor.Missing {
		return nil // The quota was deleted.
	}
	_, detail, _ := strings.Cut(message, "quota: "+quota)
	sentence := "ResourceQuota " + quota + " refuses new objects: " + strings.TrimSpace(strings.TrimLeft(detail, ",: "))
	return s.inherit(verdict.Failed, "ExceededQuota", sentence, &verdict.Cause{
		Object: withResource(neighbor.ObjectOf(&n), "core/v1/resourcequotas"), Sentence: sentence,
	})
}

func webhookFailure(s *subject, message string) *verdict.Verdict {
	webhook := firstGroup(webhookPattern, message)
	if webhook == "" {
		return nil
	}
	configuration := s.webhook(webhook)
	if configuration == nil {
		return nil
	}
	sentence := "Webhook " + webhook + " refuses new objects"
	if s.hasProblem(configuration) {
		return s.because(verdict.Failed, configuration, sentence+": ")
	}
	return s.inherit(verdict.Failed, "WebhookFailed", sentence, &verdict.Cause{
		Object: neighbor.ObjectOf(configuration), Sentence: sentence,
	})
}

func limitFailure(s *subject, message string) *verdict.Verdict {
	limit := limitPattern.FindStringIndex(message)
	if limit == nil {
		return nil
	}
	ranges := s.All(graph.Kind{Kind: "LimitRange"}, s.ID.Namespace(), neighbor.Limit)
	if len(ranges) == 0 {
		return nil
	}
	sentence := "LimitRange " + ranges[0].ID.Name() + " refuses new objects: " + strings.TrimSpace(message[limit[0]:])
	return s.inherit(verdict.Failed, "LimitRange", sentence, &verdict.Cause{
		Object: neighbor.ObjectOf(&ranges[0]), Sentence: sentence,
	})
}

// missingForCreation returns the verdict for a missing object that the API server names.
func missingForCreation(s *subject, message string) *verdict.Verdict {
	for pattern, kind := range map[*regexp.Regexp]graph.Kind{
		accountPattern: {Kind: "ServiceAccount"}, priorityClass: {Group: "scheduling.k8s.io", Kind: "PriorityClass"},
		runtimeClass: {Group: "node.k8s.io", Kind: "RuntimeClass"},
	} {
		missing := firstGroup(pattern, message)
		if missing == "" {
			continue
		}
		namespace := s.ID.Namespace()
		if kind.Group != "" {
			namespace = ""
		}
		if n := s.Find(graph.NewID(kind, namespace, missing)); n.Presence != neighbor.Present {
			return s.missing(verdict.Failed, &n)
		}
	}
	return nil
}

// failureMessage returns the message of the API server in the condition ReplicaFailure, or "". The subject's own
// sentence contains only a part of the message.
func (s *subject) failureMessage() string {
	o := neighbor.Decode[struct {
		Status struct {
			Conditions []struct {
				Type    string `json:"type"`
				Status  string `json:"status"`
				Message string `json:"message"`
			} `json:"conditions"`
		} `json:"status"`
	}](s.Object)
	for _, c := range o.Status.Conditions {
		if c.Type == "ReplicaFailure" && c.Status == "True" {
			return c.Message
		}
	}
	return ""
}

// isNeededForCreation reports whether the API server rejects pods without the object.
func isNeededForCreation(u *graph.Use) bool {
	switch u.Target.Kind.Kind {
	case "ServiceAccount", "PriorityClass", "RuntimeClass":
		return true
	}
	return false
}

func withResource(o verdict.Object, ref string) verdict.Object {
	if o.Resource == "" {
		o.Resource = ref
	}
	return o
}
