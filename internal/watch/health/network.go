package health

import "strings"

// addresses returns the addresses that a load balancer has assigned to a Service or an Ingress.
func addresses(o node) (all []string) {
	for _, point := range o.nodes("status", "loadBalancer", "ingress") {
		if address := point.text("ip") + point.text("hostname"); address != "" {
			all = append(all, address)
		}
	}
	return all
}

// service returns the health of a Service. It is InProgress until its load balancer, if any, has an address; kstatus
// requires only a cluster IP. A Service does not show whether it has pods.
func service(o node, verdict Status) Health {
	h := Health{Status: verdict, Summary: "has the address " + o.text("spec", "clusterIP")}
	balanced := o.text("spec", "type") == "LoadBalancer"
	switch given := addresses(o); {
	case o.text("spec", "type") == "ExternalName":
		h.Summary = "leads to " + o.text("spec", "externalName")
		return h
	case balanced && len(given) == 0:
		h.Status, h.Summary = InProgress, "waits for the address of a load balancer"
	case balanced:
		h.Summary = "has the address " + strings.Join(given, ", ")
	case o.text("spec", "clusterIP") == "None":
		h.Summary = "headless: it has no address of its own"
	case o.text("spec", "clusterIP") == "":
		h.Summary = "has no address"
	}
	if len(o.node("spec", "selector")) == 0 {
		h.Details = []string{"selects no pods: its endpoints are made by hand"}
	} else {
		h.Details = []string{"which pods stand behind it is for its EndpointSlices to tell"}
	}
	return h
}

// ingress returns the health of an Ingress. An address is not required: some controllers never assign one.
func ingress(o node, verdict Status) Health {
	given := addresses(o)
	if len(given) == 0 {
		return Health{Status: verdict, Summary: "no controller has given it an address"}
	}
	return Health{Status: verdict, Summary: "has the address " + strings.Join(given, ", ")}
}
