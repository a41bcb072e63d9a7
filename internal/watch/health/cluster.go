package health

import "slices"

// machine returns the health of a Node. A pressure condition (such as MemoryPressure) with the status True is a
// problem.
func machine(o node, _ Status) Health {
	h := Health{Status: Current, Summary: "Ready"}
	ready := o.condition("Ready")
	switch {
	case ready.status == "":
		h.Status, h.Summary = Unknown, "Kubelet has not reported yet"
	case ready.is("Unknown"):
		h.Status, h.Summary = Failed, "Not ready, kubelet is not reporting: "+ready.why()
	case !ready.is("True"):
		h.Status, h.Summary = Failed, "Not ready: "+ready.why()
	}
	for _, c := range o.conditions() {
		if c.is("True") &&
			slices.Contains([]string{"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}, c.kind) {
			h.Details = append(h.Details, c.kind+": "+c.why())
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

// namespace returns the health of a Namespace. While it is being deleted, the details list what it still contains.
func namespace(o node, verdict Status) Health {
	h := Health{Status: verdict, Summary: o.text("status", "phase")}
	if h.Summary == "" {
		h.Summary = "No phase reported"
	}
	for _, c := range o.conditions() {
		if c.is("True") {
			h.Details = append(h.Details, c.why())
		}
	}
	return h
}

func definition(o node, verdict Status) Health {
	h := Health{
		Status: verdict, Summary: "Served as " + o.text("spec", "names", "plural") + "." + o.text("spec", "group"),
	}
	names, served := o.condition("NamesAccepted"), o.condition("Established")
	switch {
	case names.is("False"):
		h.Summary = "Names not accepted: " + names.why()
	case !served.is("True"):
		h.Summary = "Not served yet: " + served.why()
	}
	for _, c := range o.conditions() {
		if c.kind == "NonStructuralSchema" && c.is("True") ||
			c.kind == "KubernetesAPIApprovalPolicyConformant" && c.is("False") {
			h.Details = append(h.Details, c.kind+": "+c.why())
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
		return Health{Status: Failed, Summary: "Not available: " + c.why()}
	}
}
