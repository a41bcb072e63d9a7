package fieldmanager

import "strings"

// IsController reports whether a field manager is a component of Kubernetes, and not a person or a deployment tool.
func IsController(manager string) bool {
	return strings.HasPrefix(manager, "kube-") || manager == "kubelet" || manager == "cloud-controller-manager" ||
		manager == "cluster-autoscaler" || manager == "kwok"
}
