package connection

import (
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

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

// otherPolicyKinds are kinds of policies that also permit or block connections. Their rules are not read.
var otherPolicyKinds = []graph.Kind{ //nolint:gochecknoglobals // Constant.
	{Group: "cilium.io", Kind: "CiliumNetworkPolicy"},
	{Group: "cilium.io", Kind: "CiliumClusterwideNetworkPolicy"},
	{Group: "crd.projectcalico.org", Kind: "NetworkPolicy"},
	{Group: "crd.projectcalico.org", Kind: "GlobalNetworkPolicy"},
	{Group: "projectcalico.org", Kind: "NetworkPolicy"},
	{Group: "projectcalico.org", Kind: "GlobalNetworkPolicy"},
	{Group: "policy.networking.k8s.io", Kind: "AdminNetworkPolicy"},
	{Group: "policy.networking.k8s.io", Kind: "BaselineAdminNetworkPolicy"},
	{Group: "policy.networking.k8s.io", Kind: "ClusterNetworkPolicy"},
}

// hasOtherPolicies reports whether policies of other kinds than NetworkPolicy possibly apply to pods of a namespace.
func hasOtherPolicies(s *subject.Subject, namespace string) bool {
	return slices.ContainsFunc(otherPolicyKinds, func(kind graph.Kind) bool {
		return !subject.KnowsAll(s, kind, namespace) || len(s.All(kind, namespace, 1)) > 0 || len(s.All(kind, "", 1)) > 0
	})
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

// portsNamed returns the numbers of the ports with a name that the containers of a pod declare.
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
// Of several, it returns the first one that permits the port, but only for other peers, or else the first of all.
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
		at := port{of.TargetPort.IntVal, corev1.ProtocolTCP}
		if of.Protocol != "" {
			at.protocol = of.Protocol
		}
		if name := of.TargetPort.StrVal; name != "" {
			numbers := portsNamed(p, name, at.protocol)
			if len(numbers) != 1 {
				continue
			}
			at.number = numbers[0]
		}
		if at.number == 0 {
			at.number = of.Port
		}
		all = append(all, at)
		if isNamed(of.Port) || isNamed(at.number) {
			named = append(named, at)
		}
	}
	if len(named) > 0 {
		return named
	}
	return all
}

// blocked explains the pod by a network policy that blocks its connections to all ready pods of a Service.
func (c *client) blocked(n *neighbor.Neighbor, text string) *verdict.Verdict {
	incoming, outgoing := c.blockers(n, text)
	switch isNil := func(by *neighbor.Neighbor) bool { return by == nil }; {
	case len(incoming) == 0:
	case !slices.ContainsFunc(incoming, isNil):
		return c.explainBy(incoming[0], " permits no connections from this pod to "+n.String(), n)
	case !slices.ContainsFunc(outgoing, isNil):
		return c.explainBy(outgoing[0], " permits no connections of this pod to "+n.String(), n)
	}
	return nil
}

// blockers returns, for each port of each ready pod of a Service, the policy of this pod and the policy of the client
// that blocks connections of the client to this port. A policy is nil if none blocks them. The results are empty if not
// all policies are known.
func (c *client) blockers(n *neighbor.Neighbor, text string) (incoming, outgoing []*neighbor.Neighbor) {
	o, selector := neighbor.Decode[corev1.Service](n.Object), c.Selector(n.ID)
	atClient, ok := policiesIn(c.Subject, c.ID.Namespace())
	atServer, isKnown := policiesIn(c.Subject, n.ID.Namespace())
	if selector == nil || c.pod.Spec.HostNetwork || !ok || !isKnown {
		return nil, nil
	}
	own := restricting(atClient, &c.pod, networking.PolicyTypeEgress)
	for _, server := range c.Existing(c.Selected(n.ID.Namespace(), selector, neighbor.Limit)) {
		p := neighbor.Decode[corev1.Pod](server.Object)
		if !neighbor.IsReady(&p) {
			continue
		}
		ports := targets(&o, &p, text)
		if p.Spec.HostNetwork || len(ports) == 0 {
			return nil, nil
		}
		others := restricting(atServer, &p, networking.PolicyTypeIngress)
		for i := range ports {
			incoming = append(incoming, blocks(c.Subject, others, &c.pod, &p, &ports[i]))
			outgoing = append(outgoing, blocks(c.Subject, own, &p, &p, &ports[i]))
		}
	}
	return incoming, outgoing
}

// explainBy explains the pod by a network policy. service can be nil. The result is nil if policies of other kinds
// possibly apply to the pod or the Service, because these can permit the connection, or be the ones that block it.
func (c *client) explainBy(by *neighbor.Neighbor, effect string, service *neighbor.Neighbor) *verdict.Verdict {
	if hasOtherPolicies(c.Subject, c.ID.Namespace()) ||
		service != nil && hasOtherPolicies(c.Subject, service.ID.Namespace()) {
		return nil
	}
	subject.Follow(c.Subject, by)
	if service != nil {
		c.AddSource(service.Resource, service.ID.Namespace())
	}
	return c.ExplainBy(by, c.Own.Severity, c.Own.Reason, c.Own.Sentence+". "+by.String()+effect)
}

const portDNS = 53

// withoutDNS explains the pod by a network policy that permits no DNS requests. Rules for other namespaces and for IP
// addresses possibly permit them, unless the rules are only for TCP. If the DNS server is in the pod's own namespace,
// withoutDNS returns nil.
func (c *client) withoutDNS() *verdict.Verdict {
	all, ok := policiesIn(c.Subject, c.ID.Namespace())
	all = restricting(all, &c.pod, networking.PolicyTypeEgress)
	isLocal := slices.ContainsFunc(c.All(serviceKind, c.ID.Namespace(), neighbor.Limit), func(n neighbor.Neighbor) bool {
		return slices.ContainsFunc(neighbor.Decode[corev1.Service](n.Object).Spec.Ports, func(p corev1.ServicePort) bool {
			return p.Protocol == corev1.ProtocolUDP && p.Port == portDNS
		})
	})
	if !ok || len(all) == 0 || c.pod.Spec.HostNetwork || isLocal {
		return nil
	}
	isElsewhere := func(to networking.NetworkPolicyPeer) bool { return to.IPBlock != nil || to.NamespaceSelector != nil }
	for n := range all {
		for _, r := range all[n].rules {
			isDNS := len(r.ports) == 0 || slices.ContainsFunc(r.ports, func(p networking.NetworkPolicyPort) bool {
				return p.Protocol != nil && *p.Protocol == corev1.ProtocolUDP
			})
			if isDNS && (len(r.peers) == 0 || slices.ContainsFunc(r.peers, isElsewhere)) {
				return nil
			}
		}
	}
	return c.explainBy(&all[0].Neighbor, " permits no DNS requests of this pod", nil)
}
