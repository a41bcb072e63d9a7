package mesh

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

//nolint:gochecknoglobals // Constant.
var peerAuthenticationKind = graph.Kind{Group: "security.istio.io", Kind: "PeerAuthentication"}

type peerAuthentication struct {
	Spec struct {
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		MTLS          peerMode            `json:"mtls"`
		PortLevelMTLS map[string]peerMode `json:"portLevelMtls"`
	} `json:"spec"`
}

type peerMode struct {
	Mode string `json:"mode"` // Empty or UNSET to inherit the mode of a more general policy.
}

// IsOutside reports whether no proxy of Istio forwards the connections of a pod: neither a sidecar nor, in ambient
// mode, the proxy of the node.
func IsOutside(p *corev1.Pod) bool {
	return !hasSidecar(p) && p.Annotations["ambient.istio.io/redirection"] != "enabled"
}

func hasSidecar(p *corev1.Pod) bool {
	containers := slices.Concat(p.Spec.InitContainers, p.Spec.Containers)
	return slices.ContainsFunc(containers, func(c corev1.Container) bool { return c.Name == "istio-proxy" })
}

// isGateway reports whether a pod runs only the proxy. The TLS modes of its Gateways apply, and not those of policies.
func isGateway(p *corev1.Pod) bool {
	return !slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name != "istio-proxy" })
}

// Strict returns the PeerAuthentication because of which the sidecar of a pod accepts only mutual TLS on a port. It
// returns nil if the sidecar also accepts other connections, or if that is not known.
func Strict(s *subject.Subject, p *corev1.Pod, port int32) *neighbor.Neighbor {
	if !hasSidecar(p) || isGateway(p) || isPartlyCaptured(p) {
		return nil
	}
	for _, n := range peerAuthentications(s, p) {
		spec := neighbor.Decode[peerAuthentication](n.Object).Spec
		applied := spec.MTLS
		if at := spec.PortLevelMTLS[strconv.Itoa(int(port))]; at.isSet() && len(spec.Selector.MatchLabels) > 0 {
			applied = at
		}
		switch {
		case applied.Mode == "STRICT":
			return n
		case applied.isSet():
			return nil
		}
	}
	return nil
}

func (m peerMode) isSet() bool { return m.Mode != "" && m.Mode != "UNSET" }

// isPartlyCaptured reports whether some ports of a pod possibly bypass its sidecar.
func isPartlyCaptured(p *corev1.Pod) bool {
	for name := range p.Annotations {
		if strings.HasPrefix(name, "traffic.sidecar.istio.io/") && strings.HasSuffix(name, "InboundPorts") {
			return true
		}
	}
	return false
}

// peerAuthentications returns the policies that apply to a pod, the most specific first: one that selects the pod, one
// for its namespace, and one for the mesh. Istio applies only the oldest policy of each level. The result is empty if
// not all policies are known.
func peerAuthentications(s *subject.Subject, p *corev1.Pod) (found []*neighbor.Neighbor) {
	var ofPod, ofNamespace, ofMesh *neighbor.Neighbor
	for _, namespace := range []string{p.Namespace, istioRoot} {
		all, isComplete := subject.AllOf(s, peerAuthenticationKind, namespace, neighbor.Limit)
		if !isComplete {
			return nil
		}
		for n := range all {
			labels := neighbor.Decode[peerAuthentication](all[n].Object).Spec.Selector.MatchLabels
			selector := objectrefs.SelectorOf(labels)
			switch isMesh := namespace == istioRoot; {
			case isMesh && len(labels) == 0:
				ofMesh = older(ofMesh, &all[n])
			case len(labels) == 0:
				ofNamespace = older(ofNamespace, &all[n])
			case !isMesh && selector != nil && selector.Matches(p.Labels):
				ofPod = older(ofPod, &all[n])
			}
		}
	}
	found = []*neighbor.Neighbor{ofPod, ofNamespace, ofMesh}
	return slices.DeleteFunc(found, func(n *neighbor.Neighbor) bool { return n == nil })
}

// older returns the object that was created first. a can be nil.
func older(a, b *neighbor.Neighbor) *neighbor.Neighbor {
	if a != nil && !b.Object.Created().Before(a.Object.Created()) {
		return a
	}
	return b
}
