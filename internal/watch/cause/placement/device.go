package placement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// missingDevice matches an extended resource, such as nvidia.com/gpu, that a pod requests and nodes lack.
var missingDevice = regexp.MustCompile(`\d+ Insufficient (([a-z0-9.-]+\.[a-z]+)/[A-Za-z0-9._-]*[A-Za-z0-9])`)

// withoutDevices explains why a pod gets no node. The only suitable node has too few healthy devices, or all suitable
// nodes lack a device, and the DaemonSet whose device plugin reports this device to the kubelet has failed on one of
// them. If several plugins can report the device there, or a suitable node has such devices, withoutDevices returns
// nil.
func withoutDevices(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	found := missingDevice.FindStringSubmatch(rejection(p))
	if found == nil || strings.HasSuffix(found[2], "kubernetes.io") {
		return nil
	}
	if node := unhealthyNode(s, p, corev1.ResourceName(found[1])); node != nil {
		return s.Inherit(node, s.Own.Severity, subject.Sentences(s.Own.Sentence, node.String()+": "))
	}
	plugins, _ := subject.DevicePlugins(s, found[2])
	for n := range plugins {
		subject.Follow(s, &plugins[n])
	}
	if s.Worst(plugins) == nil {
		return nil
	}
	set := failedPlugin(s, plugins, nodesWithout(s, p, corev1.ResourceName(found[1])))
	if set == nil {
		return nil
	}
	of := set.Object.Verdict().Unpack()
	subject.AddSourcesOf(s, set)
	return s.ExplainBy(set, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
		"%s, which provides %s, has a problem: %s", s.Name(set), found[1], of.Why())))
}

// unhealthyNode returns the only node on which a pod could run if all devices of this node were healthy, or nil. The
// verdict on the node must be about these devices.
func unhealthyNode(s *subject.Subject, p *corev1.Pod, device corev1.ResourceName) (only *neighbor.Neighbor) {
	request := fit.Request(p, device)
	if _, isComplete := fit.RequiredLabels(p); !isComplete || len(fullPattern.FindAllString(rejection(p), -1)) != 1 {
		return nil // The node possibly does not fit for another reason.
	}
	for _, node := range fit.SuitableNodes(s, p) {
		all, healthy := node.Status.Capacity[device], node.Status.Allocatable[device]
		if healthy.Cmp(request) >= 0 {
			return nil // Other pods use its devices.
		}
		if all.Cmp(request) < 0 {
			continue
		}
		n := s.Find(graph.NewID(nodeKind, "", node.Name))
		subject.Follow(s, &n)
		if only != nil || !s.HasProblem(&n) {
			return nil
		}
		own := n.Object.Verdict().Own().Unpack()
		if own.Reason != "UnhealthyDevices" || !strings.Contains(own.Sentence, string(device)) {
			return nil
		}
		only = &n
	}
	return only
}

// nodesWithout returns the nodes on which a pod could run if they had a device. It returns nil if one of them has such
// devices, or if not all nodes are known.
func nodesWithout(s *subject.Subject, p *corev1.Pod, device corev1.ResourceName) []corev1.Node {
	nodes := fit.SuitableNodes(s, p)
	hasDevice := func(node corev1.Node) bool {
		amount := node.Status.Allocatable[device]
		return !amount.IsZero()
	}
	if slices.ContainsFunc(nodes, hasDevice) {
		return nil
	}
	return nodes
}

// failedPlugin returns the only DaemonSet that runs on one of the nodes, if its pod on such a node has a problem.
// Otherwise, it returns nil.
func failedPlugin(s *subject.Subject, sets []neighbor.Neighbor, nodes []corev1.Node) *neighbor.Neighbor {
	var only *neighbor.Neighbor
	var on []string
	for n := range sets {
		template := &corev1.Pod{Spec: subject.Template(&sets[n]).Spec}
		for i := range nodes {
			switch {
			case fit.Obstacle(template, &nodes[i]) != "":
			case only != nil && only != &sets[n]:
				return nil
			default:
				only, on = &sets[n], append(on, nodes[i].Name)
			}
		}
	}
	if only == nil || !s.HasProblem(only) {
		return nil
	}
	for _, node := range on[:min(len(on), neighbor.Limit)] {
		if pod, _ := subject.PodOnNode(s, only, node); pod != nil && s.HasProblem(pod) {
			return only
		}
	}
	return nil
}
