package health

import "slices"

func nodeHealth(o node, _ Status) Health {
	h := Health{Status: Current, Summary: "Ready"}
	ready := o.condition("Ready")
	switch {
	case ready.status == "":
		h.Status, h.Summary = Unknown, "Kubelet has not reported yet"
	case ready.is("Unknown"):
		h.Status, h.Summary = Failed, "Not ready, kubelet is not reporting: "+ready.explanation()
	case !ready.is("True"):
		h.Status, h.Summary = Failed, "Not ready: "+ready.explanation()
	}
	for _, c := range o.conditions() {
		if c.is("True") &&
			slices.Contains([]string{"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}, c.kind) {
			h.Details = append(h.Details, c.kind+": "+c.explanation())
		}
	}
	if h.Status == Current && len(h.Details) > 0 {
		h.Status, h.Summary, h.Details = Failed, "Ready, but "+h.Details[0], h.Details[1:]
	}
	if o.flag("spec", "unschedulable") {
		h.Summary += "; cordoned (no new pods)"
	}
	return h
}

func namespace(o node, status Status) Health {
	h := Health{Status: status, Summary: o.text("status", "phase")}
	if h.Summary == "" {
		h.Summary = "No phase reported"
	}
	for _, c := range o.conditions() {
		if c.is("True") {
			h.Details = append(h.Details, c.explanation())
		}
	}
	return h
}

func customResourceDefinition(o node, status Status) Health {
	h := Health{
		Status: status, Summary: "Served as " + o.text("spec", "names", "plural") + "." + o.text("spec", "group"),
	}
	names, served := o.condition("NamesAccepted"), o.condition("Established")
	switch {
	case names.is("False"):
		h.Summary = "Names not accepted: " + names.explanation()
	case !served.is("True"):
		h.Summary = "Not served yet: " + served.explanation()
	}
	for _, c := range o.conditions() {
		if c.kind == "NonStructuralSchema" && c.is("True") ||
			c.kind == "KubernetesAPIApprovalPolicyConformant" && c.is("False") {
			h.Details = append(h.Details, c.kind+": "+c.explanation())
		}
	}
	return h
}

func apiService(o node, _ Status) Health {
	switch c := o.condition("Available"); {
	case c.is("True"):
		return Health{Status: Current, Summary: "Available"}
	case c.status == "":
		return Health{Status: InProgress, Summary: "Availability not reported yet"}
	default:
		return Health{Status: Failed, Summary: "Not available: " + c.explanation()}
	}
}
