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
	h := Health{Status: verdict, Summary: "Cluster IP " + o.text("spec", "clusterIP")}
	balanced := o.text("spec", "type") == "LoadBalancer"
	switch given := addresses(o); {
	case o.text("spec", "type") == "ExternalName":
		h.Summary = "External name " + o.text("spec", "externalName")
		return h
	case balanced && len(given) == 0:
		h.Status, h.Summary = InProgress, "Waiting for load balancer address"
	case balanced:
		h.Summary = "Load balancer address " + strings.Join(given, ", ")
	case o.text("spec", "clusterIP") == "None":
		h.Summary = "Headless: no cluster IP"
	case o.text("spec", "clusterIP") == "":
		h.Summary = "No address assigned"
	}
	if len(o.node("spec", "selector")) == 0 {
		h.Details = []string{"No selector (endpoints managed manually)"}
	} else {
		h.Details = []string{"See EndpointSlices for its endpoints"}
	}
	return h
}

// ingress returns the health of an Ingress. An address is not required: some controllers never assign one.
func ingress(o node, verdict Status) Health {
	given := addresses(o)
	if len(given) == 0 {
		return Health{Status: verdict, Summary: "No address assigned"}
	}
	return Health{Status: verdict, Summary: "Address " + strings.Join(given, ", ")}
}
