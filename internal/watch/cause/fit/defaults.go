package fit

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// limitRanger is the annotation in which the API server lists the defaults that it has set in a new pod. Its value is
// like "LimitRanger plugin set: cpu, memory request for container app; memory limit for init container setup".
const limitRanger = "kubernetes.io/limit-ranger"

// defaults matches one part of the annotation.
var defaults = regexp.MustCompile(
	`^(?:LimitRanger plugin set: )?([a-z0-9./, -]+) (request|limit) for (?:init )?container (\S+)$`)

// HasDefault reports whether the API server set a request or a limit of a container from a LimitRange. The field is
// "request" or "limit".
func HasDefault(p *corev1.Pod, container, field string, of corev1.ResourceName) bool {
	for part := range strings.SplitSeq(p.Annotations[limitRanger], "; ") {
		found := defaults.FindStringSubmatch(part)
		if found != nil && found[3] == container && found[2] == field &&
			slices.Contains(strings.Split(found[1], ", "), string(of)) {
			return true
		}
	}
	return false
}
