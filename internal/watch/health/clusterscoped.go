package health

import (
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func nodeHealth(o object, _ Status) result {
	h := result{Health: Health{Status: Current, Summary: "Ready"}}
	ready := o.condition("Ready")
	switch {
	case ready.status == "":
		h.Status, h.Summary, h.reason = Unknown, "Kubelet has not reported yet", "NotReported"
		h.severity = verdict.Progressing
		h.progress(o.time("metadata", "creationTimestamp"), verdict.Failed)
	case ready.is("Unknown"):
		h.Status, h.Summary = Failed, "Not ready, kubelet is not reporting: "+ready.shortExplanation()
		h.reason = "NodeStatusUnknown"
	case !ready.is("True"):
		h.Status, h.Summary, h.reason = Failed, "Not ready: "+notReadyText(ready), "NotReady"
		if created := o.time("metadata", "creationTimestamp"); !created.IsZero() {
			h.Status = InProgress // A new node waits for its network plugin.
			h.progress(created, verdict.Failed)
		}
	}
	for _, c := range o.conditions() {
		if c.is("True") &&
			slices.Contains([]string{"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}, c.kind) {
			h.Details = append(h.Details, c.kind+": "+c.shortExplanation())
		}
	}
	if h.Status == Current && len(h.Details) > 0 {
		h.Status, h.Summary, h.Details = Failed, "Ready, but "+h.Details[0], h.Details[1:]
		h.reason, _, _ = strings.Cut(strings.TrimPrefix(h.Summary, "Ready, but "), ":")
		h.severity = verdict.Degraded
	}
	if o.flag("spec", "unschedulable") {
		h.Summary += "; cordoned (no new pods)"
	}
	return h
}

// notReadyText returns the cause of a kubelet's message, such as "container runtime network not ready:
// NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: ..".
func notReadyText(ready condition) string {
	const network = "container runtime network not ready: "
	text := ready.shortExplanation()
	if _, cause, ok := strings.Cut(text, " message:"); ok && strings.HasPrefix(text, network) {
		return network + cause
	}
	return text
}

func namespace(o object, status Status) result {
	h := result{Health: Health{Status: status, Summary: o.text("status", "phase")}}
	if h.Summary == "" {
		h.Summary = "No phase reported"
	}
	obstacle := namespaceObstacle(o) // Is in the summary of a deletion.
	for _, c := range o.conditions() {
		if text := c.shortExplanation(); c.is("True") && text != obstacle {
			h.Details = append(h.Details, text)
		}
	}
	return h
}

// namespaceObstacle returns the message of the condition that explains best why a Namespace still exists, or "".
func namespaceObstacle(o object) string {
	if o.text("kind") != "Namespace" {
		return ""
	}
	for _, kind := range []string{
		"NamespaceFinalizersRemaining", "NamespaceContentRemaining", "NamespaceDeletionContentFailure",
		"NamespaceDeletionGroupVersionParsingFailure", "NamespaceDeletionDiscoveryFailure",
	} {
		if c := o.condition(kind); c.is("True") {
			return c.shortExplanation()
		}
	}
	return ""
}

func customResourceDefinition(o object, status Status) result {
	h := result{Health: Health{
		Status: status, Summary: "Served as " + o.text("spec", "names", "plural") + "." + o.text("spec", "group"),
	}}
	names, served := o.condition("NamesAccepted"), o.condition("Established")
	switch {
	case names.is("False"):
		h.Summary, h.reason = "Names not accepted: "+names.explanation(), names.reason
		h.severity = verdict.Failed
	case !served.is("True"):
		h.Summary, h.reason = "Not served yet: "+served.explanation(), served.reason
	}
	for _, c := range o.conditions() {
		if c.kind == "NonStructuralSchema" && c.is("True") ||
			c.kind == "KubernetesAPIApprovalPolicyConformant" && c.is("False") ||
			c.kind == "Terminating" && c.is("True") {
			h.Details = append(h.Details, c.kind+": "+c.explanation())
		}
	}
	return h
}

func apiService(o object, _ Status) result {
	switch c := o.condition("Available"); {
	case c.is("True"):
		return result{Health: Health{Status: Current, Summary: "Available"}}
	case c.status == "":
		return result{Health: Health{Status: InProgress, Summary: "Availability not reported yet"}, reason: "NotReported"}
	default:
		return result{Health: Health{Status: Failed, Summary: "Not available: " + c.explanation()}, reason: c.reason}
	}
}
