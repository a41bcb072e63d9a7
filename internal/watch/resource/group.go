package resource

import "strings"

// GatewayGroup is the group of the Gateway API.
const GatewayGroup = "gateway.networking.k8s.io"

// IsBuiltIn reports whether Kubernetes itself defines the kinds of an API group, so that their columns can be trusted.
// group is "" for the core group.
func IsBuiltIn(group string) bool {
	switch group {
	case "", "apps", "autoscaling", "batch", "extensions", "policy",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
		"authorization.k8s.io",
		"certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
		"flowcontrol.apiserver.k8s.io",
		"internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io",
		"scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io":
		return true
	}
	return false
}

// IsEvents reports whether a resource is that of the events about objects. Two API groups serve the same events.
func IsEvents(group, resource string) bool {
	return resource == "events" && (group == "" || group == "events.k8s.io")
}

// IsCustom reports whether an API group belongs to an operator, such as "argoproj.io". The operator writes the status
// of the group's objects, and creates other objects for them. Groups of Kubernetes and of metrics are not custom.
func IsCustom(group string) bool {
	return strings.Contains(group, ".") && !IsBuiltIn(group) && !strings.HasSuffix(group, "metrics.k8s.io")
}
