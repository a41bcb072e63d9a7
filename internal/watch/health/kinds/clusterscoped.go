package kinds

import (
	"cmp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func nodeHealth(o object.Object, _ result.Status) result.Result {
	h := result.Result{Status: result.Current, Summary: "Ready"}
	ready := o.Condition("Ready")
	switch {
	case ready.Status == "":
		h.Status, h.Summary, h.Reason = result.Unknown, "Kubelet has not reported yet", "NotReported"
		h.Severity = verdict.Progressing
		h.Progress(o.Created(), verdict.Failed)
	case ready.Is("Unknown"):
		h.Status, h.Summary = result.Failed, "Not ready, kubelet is not reporting: "+ready.ShortExplanation()
		h.Reason = "NodeStatusUnknown"
	case !ready.Is("True"):
		h.Status, h.Reason = result.Failed, "NotReady"
		h.Summary = "Not ready: " + message.NodeNotReady(ready.ShortExplanation())
		allowStart(&h, o) // A new node waits for its network plugin.
		if at := ready.ChangedAt; !at.IsZero() && at.Before(h.StartedAt) {
			h.StartedAt = at
		}
	}
	h.Details = builtin.NodeProblems(o)
	if h.Status == result.Current && len(h.Details) > 0 {
		h.Status, h.Summary, h.Details = result.Failed, "Ready, but "+h.Details[0], h.Details[1:]
		h.Reason, _, _ = strings.Cut(strings.TrimPrefix(h.Summary, "Ready, but "), ":")
		h.Severity = verdict.Degraded
	}
	if devices := builtin.UnhealthyDevices(o); devices != "" && h.Status == result.Current {
		h.Status, h.Summary, h.Reason, h.Severity = result.Failed, "Ready, but "+devices, "UnhealthyDevices", verdict.Degraded
	}
	if taint := builtin.StartupTaint(o); taint != "" && h.Status == result.Current {
		h.Progress(o.Created(), verdict.Degraded)
		h.OverdueReason, h.OverdueSummary = "NotInitialized", "Ready, but nothing has removed the taint "+taint
	}
	if o.Flag("spec", "unschedulable") {
		h.Summary += "; cordoned (no new pods)"
	}
	return h
}

func namespace(o object.Object, status result.Status) result.Result {
	h := result.Result{Status: status, Summary: cmp.Or(o.Text("status", "phase"), "No phase reported")}
	obstacle := intent.NamespaceObstacle(o) // Not added to Details: the summary of a deletion contains this text.
	for _, c := range o.Conditions() {
		if text := c.ShortExplanation(); c.Is("True") && text != obstacle {
			h.Details = append(h.Details, text)
		}
	}
	return h
}

func customResourceDefinition(o object.Object, status result.Status) result.Result {
	h := result.Result{
		Status: status, Summary: "Served as " + o.Text("spec", "names", "plural") + "." + o.Text("spec", "group"),
	}
	names, served, invalid := o.Condition("NamesAccepted"), o.Condition("Established"), o.Condition("NonStructuralSchema")
	switch {
	case names.Is("False"):
		h.Summary, h.Reason = "Names not accepted: "+names.Explanation(), names.Reason
		h.Severity = verdict.Failed
	case !served.Is("True"):
		h.Summary, h.Reason = "Not served yet: "+served.Explanation(), served.Reason
		if status == result.InProgress { // Normal for about 5 seconds, until the API server serves a new kind.
			h.Progress(cmp.Or(served.ChangedAt, o.Created()), verdict.Failed)
			h.Promised = serveTime
			h.ExplainOverdue("Not served", "the API server has not established the CustomResourceDefinition")
		}
	case invalid.Is("True"):
		h.Status, h.Summary, h.Reason = result.Failed, "Schema is not structural: "+invalid.ShortExplanation(), invalid.Kind
		h.Severity = verdict.Degraded // The API server serves the kind, but without pruning and defaults.
	}
	h.Details = builtin.DefinitionProblems(o)
	return h
}

func apiService(o object.Object, _ result.Status) result.Result {
	switch c := o.Condition("Available"); {
	case c.Is("True"):
		return result.Result{Status: result.Current, Summary: "Available"}
	case c.Status == "":
		h := result.Result{Status: result.InProgress, Summary: "Availability not reported yet", Reason: "NotReported"}
		h.Progress(o.Created(), verdict.Degraded)
		if o.Has("spec", "service") {
			h.Overdue = verdict.Failed // Without a reported availability, the API server sends no requests to the service.
		}
		h.Promised = serveTime // Long enough: the API server checks each service every 30 seconds.
		h.ExplainOverdue("Availability not reported", "the aggregator of the API server might not be running")
		return h
	default:
		h := result.Result{Status: result.Failed, Summary: "Not available: " + c.Explanation(), Reason: c.Reason}
		allowStart(&h, o) // Usually, the pods of a new API are created at the same time.
		return h
	}
}
