// Package cause finds why an object does not work: another object, which it owns, uses or selects, is missing or has a
// problem. The rules are functions of an object and a limited number of its neighbors.
package cause

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/api"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/node"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/operator"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/pod"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/storage"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/traffic"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Of returns the verdict that an object inherits from its neighbors (related objects), or nil if it inherits none.
func Of(c neighbor.Cluster, n neighbor.Neighbor) *verdict.Verdict {
	if n.Object == nil {
		return nil
	}
	s := subject.New(c, n)
	v := ruleFor(s)(s)
	if v == nil {
		v = mention.LastWarning(s)
	}
	if v = operator.Produced(s, operator.Explain(s, mention.Named(s, v))); v != nil {
		s.Complete(v)
	}
	return v
}

// rule returns the verdict that an object inherits, or nil.
type rule func(*subject.Subject) *verdict.Verdict

func ruleFor(s *subject.Subject) rule {
	switch s.ID.Kind {
	case graph.Kind{Kind: "Pod"}:
		return pod.Explain
	case graph.Kind{Kind: "Service"}:
		return service
	case graph.Kind{Kind: "PersistentVolumeClaim"}:
		return storage.Claim
	case graph.Kind{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:
		return storage.Attachment
	case graph.Kind{Group: "apps", Kind: "Deployment"}, graph.Kind{Group: "apps", Kind: "ReplicaSet"},
		graph.Kind{Group: "apps", Kind: "DaemonSet"}, graph.Kind{Kind: "ReplicationController"}:
		return workload
	case graph.Kind{Group: "apps", Kind: "StatefulSet"}:
		return statefulSet
	case graph.Kind{Group: "batch", Kind: "Job"}:
		return job
	case graph.Kind{Group: "batch", Kind: "CronJob"}:
		return cronJob
	case graph.Kind{Group: "networking.k8s.io", Kind: "Ingress"}:
		return traffic.Ingress
	case graph.Kind{Group: gatewayGroup, Kind: "HTTPRoute"}, graph.Kind{Group: gatewayGroup, Kind: "GRPCRoute"},
		graph.Kind{Group: gatewayGroup, Kind: "TLSRoute"}, graph.Kind{Group: gatewayGroup, Kind: "TCPRoute"},
		graph.Kind{Group: gatewayGroup, Kind: "UDPRoute"}:
		return traffic.Route
	case graph.Kind{Group: gatewayGroup, Kind: "ListenerSet"},
		graph.Kind{Group: "gateway.networking.x-k8s.io", Kind: "XListenerSet"}:
		return listenerSet
	case graph.Kind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:
		return autoscaler
	case graph.Kind{Group: "policy", Kind: "PodDisruptionBudget"}:
		return api.DisruptionBudget
	case graph.Kind{Group: admissionGroup, Kind: "ValidatingWebhookConfiguration"},
		graph.Kind{Group: admissionGroup, Kind: "MutatingWebhookConfiguration"}:
		return webhooks
	case graph.Kind{Kind: "Node"}:
		return node.Explain
	case apiServiceKind:
		return apiService
	case graph.Kind{Group: "networking.k8s.io", Kind: "ServiceCIDR"}:
		return api.ServiceRange
	case graph.Kind{Kind: "Namespace"}:
		return namespace
	case graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return definition
	case graph.Kind{Group: "argoproj.io", Kind: "Application"}:
		return application
	case graph.Kind{Group: "networking.istio.io", Kind: "VirtualService"}:
		return virtualService
	case graph.Kind{Group: "networking.istio.io", Kind: "Gateway"}:
		return istioGateway
	case graph.Kind{Group: rbacGroup, Kind: "RoleBinding"}, graph.Kind{Group: rbacGroup, Kind: "ClusterRoleBinding"}:
		return binding
	case graph.Kind{Group: admissionGroup, Kind: "ValidatingAdmissionPolicyBinding"},
		graph.Kind{Group: admissionGroup, Kind: "MutatingAdmissionPolicyBinding"}:
		return policyBinding
	case graph.Kind{Group: admissionGroup, Kind: "ValidatingAdmissionPolicy"}:
		return policy
	case graph.Kind{Group: "networking.k8s.io", Kind: "IngressClass"}:
		return ingressClass
	}
	if resource.IsCustom(s.ID.Group) || s.ID.Group == flowControlGroup && s.Own.Severity.IsProblem() {
		return custom
	}
	return func(*subject.Subject) *verdict.Verdict { return nil }
}

// service explains why requests to a Service get no response, or why the Service has no address.
func service(s *subject.Subject) *verdict.Verdict {
	if v := traffic.Service(s); v != nil {
		return v
	}
	return mention.Selecting(s)
}

const (
	gatewayGroup     = resource.GatewayGroup
	admissionGroup   = "admissionregistration.k8s.io"
	rbacGroup        = "rbac.authorization.k8s.io"
	flowControlGroup = "flowcontrol.apiserver.k8s.io"
)
