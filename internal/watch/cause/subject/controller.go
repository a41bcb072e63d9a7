package subject

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxWorkloads limits how many workloads of a kind are searched.
const maxWorkloads = 10 * neighbor.Limit

// workload is the part of a Deployment, a StatefulSet or a DaemonSet that shows whether its pods run.
type workload struct {
	Spec struct {
		Replicas *int64                 `json:"replicas"`
		Template corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
	Status struct {
		ReadyReplicas int64 `json:"readyReplicas"`
		NumberReady   int64 `json:"numberReady"` // Of a DaemonSet.
	} `json:"status"`
}

// StoppedController explains a subject that waits for a controller by the workload of this controller, if no pod of
// such a workload is ready. The settings of the workload contain the name of the controller or of its driver. role is
// what the controller does for the driver, such as attacher. An empty role matches each workload with the name.
func StoppedController(s *Subject, role, name string) *verdict.Verdict {
	if name == "" || !s.Own.Severity.IsProblem() && !s.IsSettled() {
		return nil
	}
	all, ok := Workloads(s, func(c []corev1.Container) bool { return IsController(c, role, name) }, name)
	if !ok {
		return nil
	}
	return StoppedWorkload(s, all, s.Own.Sentence)
}

// StoppedWorkload explains a subject by the workloads of a controller, if none of their pods is ready. The sentence of
// the verdict starts with effect.
func StoppedWorkload(s *Subject, all []neighbor.Neighbor, effect string) *verdict.Verdict {
	var scaled *neighbor.Neighbor
	for n := range all {
		Follow(s, &all[n])
		o := neighbor.Decode[workload](all[n].Object)
		if o.Status.ReadyReplicas+o.Status.NumberReady > 0 {
			return nil
		}
		if o.Spec.Replicas != nil && *o.Spec.Replicas == 0 {
			scaled = &all[n]
		}
	}
	if worst := s.Worst(all); worst != nil {
		return s.Inherit(worst, verdict.Degraded, Sentences(effect, s.Name(worst)+": "))
	}
	if scaled == nil {
		return nil
	}
	return s.ExplainBy(scaled, verdict.Degraded, s.Own.Reason,
		Sentences(effect, s.Name(scaled)+" is scaled to zero"))
}

// Workloads returns the Deployments, StatefulSets and DaemonSets of all namespaces that contain one of the words, and
// whose containers match. The result ok is false if further ones possibly exist.
func Workloads(
	s *Subject, matches func([]corev1.Container) bool, words ...string,
) (found []neighbor.Neighbor, ok bool) {
	all, ok := AllWorkloads(s, "Deployment", "StatefulSet", "DaemonSet")
	return matching(all, matches, words), ok
}

// DaemonSets is like Workloads, but returns only DaemonSets.
func DaemonSets(
	s *Subject, matches func([]corev1.Container) bool, words ...string,
) (found []neighbor.Neighbor, ok bool) {
	all, ok := AllWorkloads(s, "DaemonSet")
	return matching(all, matches, words), ok
}

// AllWorkloads returns the workloads of some kinds in all namespaces. The result ok is false if further ones possibly
// exist.
func AllWorkloads(s *Subject, kinds ...string) (all []neighbor.Neighbor, ok bool) {
	for _, name := range kinds {
		kind := graph.Kind{Group: "apps", Kind: name}
		found, isComplete := AllOf(s, kind, neighbor.AnyNamespace, maxWorkloads)
		if !isComplete {
			return nil, false
		}
		all = append(all, found...)
	}
	return all, true
}

// matching returns the workloads that contain one of the words, and whose containers match.
func matching(
	all []neighbor.Neighbor, matches func([]corev1.Container) bool, words []string,
) (found []neighbor.Neighbor) {
	for n := range all {
		if isWorkloadOf(&all[n], matches, words) {
			found = append(found, all[n])
		}
	}
	return found
}

func isWorkloadOf(n *neighbor.Neighbor, matches func([]corev1.Container) bool, words []string) bool {
	text, _ := n.Object.JSON()
	hasWord := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	if !slices.ContainsFunc(words, hasWord) {
		return false // This is so for most workloads, so do not decode them.
	}
	return matches(neighbor.Decode[workload](n.Object).Spec.Template.Spec.Containers)
}

// DevicePlugins returns the DaemonSets with the device plugins of a vendor, such as nvidia for the domain nvidia.com,
// and intel for gpu.intel.com. A device plugin uses a folder of the kubelet. The result ok is false if further ones
// possibly exist.
func DevicePlugins(s *Subject, domain string) (found []neighbor.Neighbor, ok bool) {
	const folder = "device-plugins"
	labels := strings.Split(domain, ".")
	// The vendor amd is not the architecture amd64.
	vendor := regexp.MustCompile(
		`(?i)(?:^|[^a-z0-9])` + regexp.QuoteMeta(labels[max(0, len(labels)-2)]) + `(?:[^0-9]|$)`)
	found, ok = DaemonSets(s, func(all []corev1.Container) bool {
		return slices.ContainsFunc(all, func(c corev1.Container) bool {
			settings, variables := settingsOf(&c)
			return slices.ContainsFunc(slices.Concat(settings, variables, []string{c.Name, c.Image}), vendor.MatchString)
		})
	}, folder)
	return slices.DeleteFunc(found, func(n neighbor.Neighbor) bool {
		return !slices.ContainsFunc(Template(&n).Spec.Volumes, func(v corev1.Volume) bool {
			return v.HostPath != nil && path.Base(v.HostPath.Path) == folder
		})
	}), ok
}

// settingsOf returns the arguments and the values of the variables of a container, and the names of these variables.
func settingsOf(c *corev1.Container) (settings, variables []string) {
	settings = slices.Concat(c.Command, c.Args)
	for _, e := range c.Env {
		settings, variables = append(settings, e.Value), append(variables, e.Name)
	}
	return settings, variables
}

// IsController reports whether the names of the containers or their settings contain the role of a controller, and the
// settings contain the complete name of the driver, also as a directory in the path of a socket.
func IsController(containers []corev1.Container, role, driver string) bool {
	hasRole, hasDriver := false, false
	for n := range containers {
		c := &containers[n]
		settings, variables := settingsOf(c)
		names := []string{c.Name, path.Base(c.Image)}
		for _, name := range variables {
			names = append(names, strings.ToLower(name))
		}
		contains := func(text string) bool { return strings.Contains(text, role) }
		hasRole = hasRole || slices.ContainsFunc(names, contains) || slices.ContainsFunc(c.Args, contains)
		hasDriver = hasDriver || slices.ContainsFunc(settings, func(text string) bool { return namesDriver(text, driver) })
	}
	return hasRole && hasDriver
}

// namesDriver reports whether a setting such as --provisioner=NAME or --csi-address=/csi/NAME/csi.sock names a driver.
func namesDriver(setting, driver string) bool {
	for value := range strings.FieldsFuncSeq(setting, func(r rune) bool { return strings.ContainsRune(" =,;\"'", r) }) {
		if value == driver || slices.Contains(strings.Split(value, "/"), driver) {
			return true
		}
	}
	return false
}
