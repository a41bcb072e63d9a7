package subject

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// Template returns the template of the pods of a workload.
func Template(n *neighbor.Neighbor) corev1.PodTemplateSpec {
	return neighbor.Decode[workload](n.Object).Spec.Template
}
