package kinds

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// service returns InProgress for a LoadBalancer without an external address, although kstatus needs only a cluster IP.
func service(o object.Object, status result.Status) result.Result {
	h := result.Result{Status: status, Summary: "Cluster IP " + o.Text("spec", "clusterIP")}
	hasLoadBalancer := o.Text("spec", "type") == "LoadBalancer"
	switch assigned := o.Addresses(); {
	case o.Text("spec", "type") == "ExternalName":
		h.Summary = "External name " + o.Text("spec", "externalName")
		return h
	case hasLoadBalancer && len(assigned) == 0:
		h.Status, h.Summary, h.Reason = result.InProgress, "Waiting for load balancer address", "LoadBalancerPending"
		h.Summary += builtin.LoadBalancerProblem(o)
		h.Progress(o.Created(), verdict.Degraded)
	case hasLoadBalancer:
		h.Summary = "Load balancer address " + strings.Join(assigned, ", ")
	case o.Text("spec", "clusterIP") == "None":
		h.Summary = "Headless: no cluster IP"
	case o.Text("spec", "clusterIP") == "":
		h.Summary = "No cluster IP assigned"
	}
	if len(o.Child("spec", "selector")) == 0 {
		h.Details = []string{"No selector (endpoints managed manually)"}
	} else {
		h.Details = []string{"See EndpointSlices for its endpoints"}
	}
	return h
}

// ingress reports an Ingress without an address as healthy, because some controllers never assign one.
func ingress(o object.Object, status result.Status) result.Result {
	assigned := o.Addresses()
	if len(assigned) == 0 {
		return result.Result{Status: status, Summary: "No address assigned"}
	}
	return result.Result{Status: status, Summary: "Address " + strings.Join(assigned, ", ")}
}
