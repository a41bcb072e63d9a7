package subject

import (
	"cmp"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// target is the part of a spec that selects where a deployment tool, such as Flux or Argo CD, applies objects.
type target struct {
	Spec struct {
		KubeConfig      any    `json:"kubeConfig"`
		TargetNamespace string `json:"targetNamespace"`
		Destination     struct {
			Server    string `json:"server"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"destination"`
	} `json:"spec"`
}

// IsRemote reports whether the spec of the subject selects another cluster, whose objects are unknown.
func IsRemote(s *Subject) bool {
	spec := neighbor.Decode[target](s.Object).Spec
	isArgo := s.ID.Group == "argoproj.io" // In other groups, the destination can be another object, such as a Secret.
	return spec.KubeConfig != nil || isArgo &&
		(!slices.Contains([]string{"", "https://kubernetes.default.svc"}, spec.Destination.Server) ||
			!slices.Contains([]string{"", "in-cluster"}, spec.Destination.Name))
}

// TargetNamespace returns the namespace to which the subject applies objects, if its spec selects one, or else its own.
func TargetNamespace(s *Subject) string {
	spec := neighbor.Decode[target](s.Object).Spec
	return cmp.Or(spec.TargetNamespace, spec.Destination.Namespace, s.ID.Namespace())
}
