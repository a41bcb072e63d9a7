// Package policies evaluates network policies: which of them block connections of a pod.
package policies

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

//nolint:gochecknoglobals // Constant.
var policyKind = graph.Kind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}

// Policy is a network policy, with its rules for one direction.
type Policy struct {
	neighbor.Neighbor

	spec  networking.NetworkPolicySpec
	rules []rule
}

type rule struct {
	peers []networking.NetworkPolicyPeer
	ports []networking.NetworkPolicyPort
}

// In returns the policies of a namespace. ok is false if there are possibly more.
func In(s *subject.Subject, namespace string) (found []Policy, ok bool) {
	all, isComplete := subject.AllOf(s, policyKind, namespace, neighbor.Limit)
	if !isComplete {
		return nil, false
	}
	for _, n := range all {
		found = append(found, Policy{Neighbor: n, spec: neighbor.Decode[networking.NetworkPolicy](n.Object).Spec})
	}
	return found, true
}

// Restricting returns the policies that restrict the connections of a pod in one direction.
func Restricting(all []Policy, p *corev1.Pod, direction networking.PolicyType) (found []Policy) {
	for _, restricts := range all {
		if !slices.Contains(restricts.spec.PolicyTypes, direction) || !matches(&restricts.spec.PodSelector, p.Labels) {
			continue
		}
		if direction == networking.PolicyTypeIngress {
			for _, r := range restricts.spec.Ingress {
				restricts.rules = append(restricts.rules, rule{r.From, r.Ports})
			}
		} else {
			for _, r := range restricts.spec.Egress {
				restricts.rules = append(restricts.rules, rule{r.To, r.Ports})
			}
		}
		found = append(found, restricts)
	}
	return found
}

func matches(selector *metav1.LabelSelector, set map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set))
}

// Includes reports whether a peer of a policy in a namespace includes a pod. It also returns true if that is not known,
// as for a block of IP addresses.
func Includes(s *subject.Subject, peer *networking.NetworkPolicyPeer, namespace string, p *corev1.Pod) bool {
	switch {
	case peer.IPBlock != nil:
		return true
	case peer.NamespaceSelector == nil && p.Namespace != namespace:
		return false
	case peer.NamespaceSelector != nil:
		n := s.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", p.Namespace))
		subject.Follow(s, &n)
		set := neighbor.Decode[metav1.PartialObjectMetadata](n.Object).Labels
		if n.Object != nil && !matches(peer.NamespaceSelector, set) {
			return false
		}
	}
	return peer.PodSelector == nil || matches(peer.PodSelector, p.Labels)
}

// Port is a port of a server to which clients connect.
type Port struct {
	Number   int32
	Protocol corev1.Protocol
}

// IsIn reports whether a rule with these ports applies to the port of a pod.
func (at *Port) IsIn(ports []networking.NetworkPolicyPort, p *corev1.Pod) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(allowed networking.NetworkPolicyPort) bool {
		protocol := corev1.ProtocolTCP
		if allowed.Protocol != nil {
			protocol = *allowed.Protocol
		}
		switch {
		case protocol != at.Protocol:
			return false
		case allowed.Port == nil:
			return true
		case allowed.Port.StrVal != "":
			return slices.Contains(PortsNamed(p, allowed.Port.StrVal, protocol), at.Number)
		case allowed.EndPort != nil:
			return at.Number >= allowed.Port.IntVal && at.Number <= *allowed.EndPort
		}
		return at.Number == allowed.Port.IntVal
	})
}

// PortsNamed returns the numbers of those ports that the containers of a pod declare with the given name and protocol.
func PortsNamed(p *corev1.Pod, name string, protocol corev1.Protocol) (numbers []int32) {
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, declared := range c.Ports {
			if declared.Name == name && (declared.Protocol == protocol || declared.Protocol == "") {
				numbers = append(numbers, declared.ContainerPort)
			}
		}
	}
	return numbers
}

// BlockingPod returns the policy that blocks the connections between peer and the pod to which all policies apply, or
// nil.
func BlockingPod(s *subject.Subject, all []Policy, peer, server *corev1.Pod, at *Port) *neighbor.Neighbor {
	return blocking(all, server, at, func(to *networking.NetworkPolicyPeer, namespace string) bool {
		return Includes(s, to, namespace, peer)
	})
}

// BlockingAddress returns the policy that blocks the connections of a pod to an address, or nil. All policies apply to
// the pod. A peer with a selector possibly permits the connections, because the address can be that of an unknown pod.
func BlockingAddress(all []Policy, address netip.Addr, at *Port) *neighbor.Neighbor {
	return blocking(all, &corev1.Pod{}, at, func(to *networking.NetworkPolicyPeer, _ string) bool {
		return to.IPBlock == nil || contains(to.IPBlock, address)
	})
}

// contains reports whether a block contains an address. It also returns true if the block cannot be read.
func contains(block *networking.IPBlock, address netip.Addr) bool {
	isIn := func(cidr string) bool {
		prefix, err := netip.ParsePrefix(cidr)
		return err != nil || prefix.Contains(address)
	}
	return isIn(block.CIDR) && !slices.ContainsFunc(block.Except, isIn)
}

// blocking returns the policy that blocks the connections to a port of the server, or nil. If there are several,
// blocking returns the first policy that permits the port for other peers only. If there is no such policy, it returns
// the first of all policies.
func blocking(
	all []Policy, server *corev1.Pod, at *Port, isPeer func(to *networking.NetworkPolicyPeer, namespace string) bool,
) *neighbor.Neighbor {
	var likely *neighbor.Neighbor
	for n := range all {
		for _, r := range all[n].rules {
			if !at.IsIn(r.ports, server) {
				continue
			}
			if len(r.peers) == 0 || slices.ContainsFunc(r.peers, func(to networking.NetworkPolicyPeer) bool {
				return isPeer(&to, all[n].ID.Namespace())
			}) {
				return nil
			}
			if likely == nil {
				likely = &all[n].Neighbor
			}
		}
	}
	if likely == nil && len(all) > 0 {
		likely = &all[0].Neighbor
	}
	return likely
}

// PermitElsewhere reports whether a rule of the policies possibly permits connections to certain ports outside the
// namespace of the policies. Rules for other namespaces and for IP addresses possibly permit them, unless the rules are
// only for other ports.
func PermitElsewhere(all []Policy, isPort func(networking.NetworkPolicyPort) bool) bool {
	isElsewhere := func(to networking.NetworkPolicyPeer) bool { return to.IPBlock != nil || to.NamespaceSelector != nil }
	return slices.ContainsFunc(all, func(of Policy) bool {
		return slices.ContainsFunc(of.rules, func(r rule) bool {
			isOpen := len(r.ports) == 0 || slices.ContainsFunc(r.ports, isPort)
			return isOpen && (len(r.peers) == 0 || slices.ContainsFunc(r.peers, isElsewhere))
		})
	})
}
