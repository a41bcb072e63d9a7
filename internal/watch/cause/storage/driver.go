package storage

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// modePattern matches the mode of a volume, and the CSI driver that does not support this mode.
var modePattern = regexp.MustCompile(`volume mode "(Ephemeral|Persistent)" not supported by driver (\S+)`)

// unsupportedMode explains a pod by the CSIDriver that does not support inline volumes, or supports only these.
func unsupportedMode(s *subject.Subject, _ *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	found := modePattern.FindStringSubmatch(last.Message)
	if found == nil {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Group: "storage.k8s.io", Kind: "CSIDriver"}, "", found[2]))
	modes := neighbor.Decode[storage.CSIDriver](n.Object).Spec.VolumeLifecycleModes
	if n.Object == nil || slices.Contains(modes, storage.VolumeLifecycleMode(found[1])) {
		return nil
	}
	subject.Follow(s, &n)
	s.AddSource(subject.EventsRef, last.Namespace)
	return s.ExplainBy(&n, verdict.Degraded, last.Reason, last.Message)
}

var (
	// unlistedDriver matches the CSI driver in an error of a kubelet that does not know the driver.
	unlistedDriver = regexp.MustCompile(`driver name (\S+) not found in the list of registered CSI drivers`)
	// attachedDriver matches a node and the CSI driver that is not registered on this node.
	attachedDriver = regexp.MustCompile(`CSINode (\S+) does not contain driver (\S+)`)
	// topologyNode matches a node for which a provisioner finds no topology, because its driver is not registered there.
	topologyNode = regexp.MustCompile(`no topology key found on (?:CSINode|node) (\S+)`)
)

// unregisteredDriver explains a pod whose volume needs a CSI driver that is not registered on the node of the pod.
func unregisteredDriver(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	if found := unlistedDriver.FindStringSubmatch(last.Message); found != nil {
		return unregistered(s, found[1], p.Spec.NodeName, last.Message)
	}
	if found := attachedDriver.FindStringSubmatch(last.Message); found != nil && found[1] == p.Spec.NodeName {
		return unregistered(s, found[2], p.Spec.NodeName, last.Message)
	}
	return nil
}

// unregisteredProvisioner explains a claim that gets no volume because its driver is not registered on the node that
// the scheduler has selected.
func unregisteredProvisioner(s *subject.Subject, message string) *verdict.Verdict {
	found := topologyNode.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	o := neighbor.Decode[corev1.PersistentVolumeClaim](s.Object)
	v := unregistered(s, provisionerOf(&o), found[1], message)
	if v != nil {
		v.Severity = verdict.Failed
	}
	return v
}

// unregistered explains an error about a CSI driver that is not registered on a node. The cause is the DaemonSet that
// registers the driver, or its pod on this node. If there is no single such DaemonSet, the cause is the CSINode.
func unregistered(s *subject.Subject, driver, node, message string) *verdict.Verdict {
	csiNode := s.Find(graph.NewID(graph.Kind{Group: "storage.k8s.io", Kind: "CSINode"}, "", node))
	isListed := slices.ContainsFunc(neighbor.Decode[storage.CSINode](csiNode.Object).Spec.Drivers,
		func(d storage.CSINodeDriver) bool { return d.Name == driver })
	if csiNode.Object == nil || driver == "" || isListed {
		return nil
	}
	subject.Follow(s, &csiNode)
	s.AddSource(subject.EventsRef, s.ID.Namespace())
	s.AddSource(csiNode.Resource, "")
	registers := func(c []corev1.Container) bool { return subject.IsController(c, "registrar", driver) }
	sets, ok := subject.DaemonSets(s, registers, driver)
	if ok && len(sets) == 1 {
		prefix := fmt.Sprintf("CSI driver %s is not registered on Node %s: ", driver, node)
		if v := notOnNode(s, &sets[0], node, "DriverNotRegistered", prefix); v != nil {
			return v
		}
	}
	return s.ExplainBy(&csiNode, verdict.Degraded, "DriverNotRegistered", fmt.Sprintf(
		"CSI driver %s is not registered on Node %s: %s", driver, node, message))
}

// notOnNode explains why a program does not work on a node by the DaemonSet that runs the program: its pod on this node
// has a problem, or the DaemonSet runs no pod on this node. Otherwise, it returns nil.
func notOnNode(s *subject.Subject, set *neighbor.Neighbor, node, reason, prefix string) *verdict.Verdict {
	subject.Follow(s, set)
	pod, ok := subject.PodOnNode(s, set, node)
	if !ok {
		return nil
	}
	if pod != nil {
		subject.Follow(s, pod)
		if s.HasProblem(pod) {
			return s.Inherit(pod, verdict.Degraded, prefix+s.Name(pod)+": ")
		}
		return nil
	}
	on := s.Find(graph.NewID(graph.Kind{Kind: "Node"}, "", node))
	at := neighbor.Decode[corev1.Node](on.Object)
	obstacle := fit.Obstacle(&corev1.Pod{Spec: subject.Template(set).Spec}, &at)
	if on.Object == nil || obstacle == "" {
		return nil
	}
	subject.Follow(s, &on)
	s.AddSource(on.Resource, "")
	return s.ExplainBy(set, verdict.Degraded, reason, prefix+s.Name(set)+" "+obstacle)
}
