package health

import (
	"cmp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func nodeHealth(o object.Object, _ Status) result {
	h := result{Health: Health{Status: Current, Summary: "Ready"}}
	ready := o.Condition("Ready")
	switch {
	case ready.Status == "":
		h.Status, h.Summary, h.reason = Unknown, "Kubelet has not reported yet", "NotReported"
		h.severity = verdict.Progressing
		h.progress(o.Created(), verdict.Failed)
	case ready.Is("Unknown"):
		h.Status, h.Summary = Failed, "Not ready, kubelet is not reporting: "+ready.ShortExplanation()
		h.reason = "NodeStatusUnknown"
	case !ready.Is("True"):
		h.Status, h.Summary, h.reason = Failed, "Not ready: "+message.NodeNotReady(ready.ShortExplanation()), "NotReady"
		h.allowStart(o) // A new node waits for its network plugin.
		if at := ready.ChangedAt; !at.IsZero() && at.Before(h.startedAt) {
			h.startedAt = at
		}
	}
	h.Details = builtin.NodeProblems(o)
	if h.Status == Current && len(h.Details) > 0 {
		h.Status, h.Summary, h.Details = Failed, "Ready, but "+h.Details[0], h.Details[1:]
		h.reason, _, _ = strings.Cut(strings.TrimPrefix(h.Summary, "Ready, but "), ":")
		h.severity = verdict.Degraded
	}
	if devices := builtin.UnhealthyDevices(o); devices != "" && h.Status == Current {
		h.Status, h.Summary, h.reason, h.severity = Failed, "Ready, but "+devices, "UnhealthyDevices", verdict.Degraded
	}
	if taint := builtin.StartupTaint(o); taint != "" && h.Status == Current {
		h.progress(o.Created(), verdict.Degraded)
		h.overdueReason, h.overdueSummary = "NotInitialized", "Ready, but nothing has removed the taint "+taint
	}
	if o.Flag("spec", "unschedulable") {
		h.Summary += "; cordoned (no new pods)"
	}
	return h
}

func namespace(o object.Object, status Status) result {
	h := result{Health: Health{Status: status, Summary: cmp.Or(o.Text("status", "phase"), "No phase reported")}}
	obstacle := intent.NamespaceObstacle(o) // Not added to Details: the summary of a deletion contains this text.
	for _, c := range o.Conditions() {
		if text := c.ShortExplanation(); c.Is("True") && text != obstacle {
			h.Details = append(h.Details, text)
		}
	}
	return h
}

func customResourceDefinition(o object.Object, status Status) result {
	h := result{Health: Health{
		Status: status, Summary: "Served as " + o.Text("spec", "names", "plural") + "." + o.Text("spec", "group"),
	}}
	names, served, invalid := o.Condition("NamesAccepted"), o.Condition("Established"), o.Condition("NonStructuralSchema")
	switch {
	case names.Is("False"):
		h.Summary, h.reason = "Names not accepted: "+names.Explanation(), names.Reason
		h.severity = verdict.Failed
	case !served.Is("True"):
		h.Summary, h.reason = "Not served yet: "+served.Explanation(), served.Reason
		if status == InProgress { // Normal for about 5 seconds, until the API server serves a new kind.
			h.progress(cmp.Or(served.ChangedAt, o.Created()), verdict.Failed)
			h.promised = serveTime
			h.explainOverdue("Not served", "the API server has not established the CustomResourceDefinition")
		}
	case invalid.Is("True"):
		h.Status, h.Summary, h.reason = Failed, "Schema is not structural: "+invalid.ShortExplanation(), invalid.Kind
		h.severity = verdict.Degraded // The API server serves the kind, but without pruning and defaults.
	}
	h.Details = builtin.DefinitionProblems(o)
	return h
}

func apiService(o object.Object, _ Status) result {
	switch c := o.Condition("Available"); {
	case c.Is("True"):
		return result{Health: Health{Status: Current, Summary: "Available"}}
	case c.Status == "":
		h := result{Health: Health{Status: InProgress, Summary: "Availability not reported yet"}, reason: "NotReported"}
		h.progress(o.Created(), verdict.Degraded)
		if o.Has("spec", "service") {
			h.overdue = verdict.Failed // Without a reported availability, the API server sends no requests to the service.
		}
		h.promised = serveTime // Long enough: the API server checks each service every 30 seconds.
		h.explainOverdue("Availability not reported", "the aggregator of the API server might not be running")
		return h
	default:
		return result{Health: Health{Status: Failed, Summary: "Not available: " + c.Explanation()}, reason: c.Reason}
	}
}
