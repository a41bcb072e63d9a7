package subject

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// ClassController explains a subject by the workload of the controller of its class, if this workload does not run. A
// setting such as --ingress-class has one of the names. The sentence of the verdict starts with effect.
func ClassController(s *Subject, effect string, names ...string) *verdict.Verdict {
	matches := func(all []corev1.Container) bool {
		return slices.ContainsFunc(all, func(c corev1.Container) bool { return handlesClass(&c, names) })
	}
	all, ok := AllWorkloads(s, "Deployment", "StatefulSet", "DaemonSet")
	// Most workloads have no problem. Decode all texts only if a workload with a problem is the controller.
	if !ok || !slices.ContainsFunc(all, func(n neighbor.Neighbor) bool {
		return n.Object.Verdict().Severity().IsProblem() && isWorkloadOf(&n, matches, names)
	}) {
		return nil
	}
	return StoppedWorkload(s, matching(all, matches, names), effect)
}

// isIngressController reports whether the name or the image of a container is that of an Ingress controller. Other
// programs can have a setting with a class, too: external-dns selects Ingresses by it.
func isIngressController(c *corev1.Container) bool {
	return slices.ContainsFunc([]string{c.Name, path.Base(c.Image)}, func(name string) bool {
		return slices.ContainsFunc([]string{"ingress", "controller", "gateway", "proxy"}, func(word string) bool {
			return strings.Contains(name, word)
		})
	})
}

// handlesClass reports whether a setting of a container such as --ingress-class=NAME has one of the values.
func handlesClass(c *corev1.Container, values []string) bool {
	if !isIngressController(c) {
		return false
	}
	isAboutClass := func(name string) bool { return strings.Contains(strings.ToLower(name), "class") }
	settings := slices.Concat(c.Command, c.Args)
	for n, setting := range settings {
		name, value, ok := strings.Cut(setting, "=")
		if !ok && n+1 < len(settings) {
			value = settings[n+1]
		}
		if isAboutClass(name) && slices.Contains(values, value) {
			return true
		}
	}
	return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
		return isAboutClass(e.Name) && slices.Contains(values, e.Value)
	})
}
