package connection

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

//nolint:gochecknoglobals // Constant.
var policyKind = graph.Kind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}

// policy is a network policy, with its rules for one direction.
type policy struct {
	neighbor.Neighbor

	spec  networking.NetworkPolicySpec
	rules []rule
}

type rule struct {
	peers []networking.NetworkPolicyPeer
	ports []networking.NetworkPolicyPort
}

// policiesIn returns the policies of a namespace. ok is false if there are possibly more.
func policiesIn(s *subject.Subject, namespace string) (found []policy, ok bool) {
	all := s.All(policyKind, namespace, neighbor.Limit)
	if len(all) == neighbor.Limit || !subject.KnowsAll(s, policyKind, namespace) {
		return nil, false
	}
	for _, n := range all {
		found = append(found, policy{Neighbor: n, spec: neighbor.Decode[networking.NetworkPolicy](n.Object).Spec})
	}
	return found, true
}

// restricting returns the policies that restrict the connections of a pod in one direction.
func restricting(all []policy, p *corev1.Pod, direction networking.PolicyType) (found []policy) {
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

// includes reports whether a peer of a policy in a namespace includes a pod. It also returns true if that is not known,
// as for a block of IP addresses.
func includes(s *subject.Subject, peer *networking.NetworkPolicyPeer, namespace string, p *corev1.Pod) bool {
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

// port is a port of a pod to which clients connect.
type port struct {
	number   int32
	protocol corev1.Protocol
}

// isIn reports whether a rule with these ports applies to the port of a pod.
func (at *port) isIn(ports []networking.NetworkPolicyPort, p *corev1.Pod) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(allowed networking.NetworkPolicyPort) bool {
		protocol := corev1.ProtocolTCP
		if allowed.Protocol != nil {
			protocol = *allowed.Protocol
		}
		switch {
		case protocol != at.protocol:
			return false
		case allowed.Port == nil:
			return true
		case allowed.Port.StrVal != "":
			return slices.Contains(portsNamed(p, allowed.Port.StrVal, protocol), at.number)
		case allowed.EndPort != nil:
			return at.number >= allowed.Port.IntVal && at.number <= *allowed.EndPort
		}
		return at.number == allowed.Port.IntVal
	})
}

// portsNamed returns the numbers of those ports that the containers of a pod declare with the given name and protocol.
func portsNamed(p *corev1.Pod, name string, protocol corev1.Protocol) (numbers []int32) {
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, declared := range c.Ports {
			if declared.Name == name && (declared.Protocol == protocol || declared.Protocol == "") {
				numbers = append(numbers, declared.ContainerPort)
			}
		}
	}
	return numbers
}

// blocks returns the policy that blocks the connections between peer and the pod to which all policies apply, or nil.
// If there are several, blocks returns the first policy that permits the port for other peers only. If there is no such
// policy, it returns the first of all policies.
func blocks(s *subject.Subject, all []policy, peer, server *corev1.Pod, at *port) *neighbor.Neighbor {
	var likely *neighbor.Neighbor
	for n := range all {
		for _, r := range all[n].rules {
			if !at.isIn(r.ports, server) {
				continue
			}
			isPeer := func(to networking.NetworkPolicyPeer) bool {
				return includes(s, &to, all[n].ID.Namespace(), peer)
			}
			if len(r.peers) == 0 || slices.ContainsFunc(r.peers, isPeer) {
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

// portOf returns the port of a pod to which a port of a Service refers. If the target port is a name that several ports
// of the pod have, or none, portOf returns nil.
func portOf(of *corev1.ServicePort, p *corev1.Pod) *port {
	at := port{of.TargetPort.IntVal, cmp.Or(of.Protocol, corev1.ProtocolTCP)}
	if name := of.TargetPort.StrVal; name != "" {
		numbers := portsNamed(p, name, at.protocol)
		if len(numbers) != 1 {
			return nil
		}
		at.number = numbers[0]
	}
	at.number = cmp.Or(at.number, of.Port)
	return &at
}

// numberPattern matches a port number in an error.
var numberPattern = regexp.MustCompile(`(?::|\bport[ :=]+)(\d{2,5})\b`)

// targets returns the ports of a pod to which the Service sends connections. If the text contains the number of one of
// the Service's ports, only this port counts.
func targets(o *corev1.Service, p *corev1.Pod, text string) (all []port) {
	var named []port
	isNamed := func(number int32) bool {
		return slices.ContainsFunc(numberPattern.FindAllStringSubmatch(text, maxHosts), func(found []string) bool {
			return found[1] == strconv.Itoa(int(number))
		})
	}
	for _, of := range o.Spec.Ports {
		at := portOf(&of, p)
		if at == nil {
			continue
		}
		all = append(all, *at)
		if isNamed(of.Port) || isNamed(at.number) {
			named = append(named, *at)
		}
	}
	if len(named) > 0 {
		return named
	}
	return all
}

// blocked explains the pod by a network policy that blocks its connections to all ready pods of a Service.
func (c *client) blocked(n *neighbor.Neighbor, text string) *verdict.Verdict {
	if n.ID == apiServer {
		return withoutAPI(c, n)
	}
	servers := readyPods(c, n)
	incoming, outgoing := c.blockers(n, servers, text)
	by, effect := (*neighbor.Neighbor)(nil), ""
	switch isNil := func(by *neighbor.Neighbor) bool { return by == nil }; {
	case len(incoming) == 0:
	case !slices.ContainsFunc(incoming, isNil):
		by, effect = incoming[0], " does not allow connections from this pod to "+n.String()+servicePort(c, incoming[0], n)
	case !slices.ContainsFunc(outgoing, isNil):
		by, effect = outgoing[0], " does not allow connections from this pod to "+n.String()
	}
	if by == nil || hasOtherPolicies(c.Subject, c.ID.Namespace(), []corev1.Pod{c.pod}) ||
		hasOtherPolicies(c.Subject, n.ID.Namespace(), servers) {
		return nil
	}
	return c.explainBy(by, effect, n)
}

// servicePort explains a policy that permits connections of the pod to the only port of a Service. The policy must
// permit the target port instead, because its rules are about ports of pods. Otherwise, servicePort returns "".
func servicePort(c *client, by, service *neighbor.Neighbor) string {
	ports := neighbor.Decode[corev1.Service](service.Object).Spec.Ports
	if len(ports) != 1 || ports[0].TargetPort == intstr.FromInt32(ports[0].Port) ||
		ports[0].TargetPort == (intstr.IntOrString{}) {
		return ""
	}
	isPort := func(p networking.NetworkPolicyPort) bool {
		return p.Port != nil && p.EndPort == nil && *p.Port == intstr.FromInt32(ports[0].Port)
	}
	isPeer := func(from networking.NetworkPolicyPeer) bool {
		return includes(c.Subject, &from, by.ID.Namespace(), &c.pod)
	}
	for _, r := range neighbor.Decode[networking.NetworkPolicy](by.Object).Spec.Ingress {
		if slices.ContainsFunc(r.Ports, isPort) && (len(r.From) == 0 || slices.ContainsFunc(r.From, isPeer)) {
			return fmt.Sprintf(": it permits port %d of the Service, but must permit the target port %s",
				ports[0].Port, ports[0].TargetPort.String())
		}
	}
	return ""
}

// readyPods returns the ready pods of a Service.
func readyPods(c *client, service *neighbor.Neighbor) (ready []corev1.Pod) {
	selector := c.Selector(service.ID)
	if selector == nil {
		return nil
	}
	for _, server := range c.Existing(c.Selected(service.ID.Namespace(), selector, neighbor.Limit)) {
		if p := neighbor.Decode[corev1.Pod](server.Object); neighbor.IsReady(&p) {
			ready = append(ready, p)
		}
	}
	return ready
}

// blockers returns the policies that block connections of the client to a Service. For each port of each ready pod,
// incoming contains the policy of this pod, and outgoing contains the policy of the client. A policy is nil if none
// blocks the connections. Both results are empty if not all policies are known.
func (c *client) blockers(
	n *neighbor.Neighbor, servers []corev1.Pod, text string,
) (incoming, outgoing []*neighbor.Neighbor) {
	o := neighbor.Decode[corev1.Service](n.Object)
	atClient, ok := policiesIn(c.Subject, c.ID.Namespace())
	atServer, isKnown := policiesIn(c.Subject, n.ID.Namespace())
	if c.pod.Spec.HostNetwork || !ok || !isKnown {
		return nil, nil
	}
	own := restricting(atClient, &c.pod, networking.PolicyTypeEgress)
	for n := range servers {
		p := &servers[n]
		ports := targets(&o, p, text)
		if p.Spec.HostNetwork || len(ports) == 0 {
			return nil, nil
		}
		others := restricting(atServer, p, networking.PolicyTypeIngress)
		for i := range ports {
			incoming = append(incoming, blocks(c.Subject, others, &c.pod, p, &ports[i]))
			outgoing = append(outgoing, blocks(c.Subject, own, p, p, &ports[i]))
		}
	}
	return incoming, outgoing
}

// explainBy explains the pod by a network policy. service can be nil.
func (c *client) explainBy(by *neighbor.Neighbor, effect string, service *neighbor.Neighbor) *verdict.Verdict {
	subject.Follow(c.Subject, by)
	if service != nil {
		c.AddSource(service.Resource, service.ID.Namespace())
	}
	return c.ExplainBy(by, c.Own.Severity, c.Own.Reason, subject.Sentences(c.Own.Sentence, by.String()+effect))
}

const portDNS = 53

// withoutDNS explains the pod by a network policy that permits no DNS requests. If the DNS server is in the pod's own
// namespace, withoutDNS returns nil.
func withoutDNS(c *client, _ string) *verdict.Verdict {
	isLocal := slices.ContainsFunc(c.All(serviceKind, c.ID.Namespace(), neighbor.Limit), func(n neighbor.Neighbor) bool {
		return slices.ContainsFunc(neighbor.Decode[corev1.Service](n.Object).Spec.Ports, isDNS)
	})
	if isLocal {
		return nil
	}
	return c.confined(" does not allow DNS requests from this pod", nil, func(p networking.NetworkPolicyPort) bool {
		return p.Protocol != nil && *p.Protocol == corev1.ProtocolUDP
	})
}

// confined explains the pod by a network policy that permits no connections of the pod to certain ports outside its
// namespace. Rules for other namespaces and for IP addresses possibly permit them, unless the rules are only for other
// ports.
func (c *client) confined(
	effect string, service *neighbor.Neighbor, isPort func(networking.NetworkPolicyPort) bool,
) *verdict.Verdict {
	all, ok := policiesIn(c.Subject, c.ID.Namespace())
	all = restricting(all, &c.pod, networking.PolicyTypeEgress)
	if !ok || len(all) == 0 || c.pod.Spec.HostNetwork {
		return nil
	}
	isElsewhere := func(to networking.NetworkPolicyPeer) bool { return to.IPBlock != nil || to.NamespaceSelector != nil }
	for n := range all {
		for _, r := range all[n].rules {
			isOpen := len(r.ports) == 0 || slices.ContainsFunc(r.ports, isPort)
			if isOpen && (len(r.peers) == 0 || slices.ContainsFunc(r.peers, isElsewhere)) {
				return nil
			}
		}
	}
	if hasOtherPolicies(c.Subject, c.ID.Namespace(), []corev1.Pod{c.pod}) {
		return nil
	}
	return c.explainBy(&all[0].Neighbor, effect, service)
}
