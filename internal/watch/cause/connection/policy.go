package connection

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/connection/policies"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// portOf returns the port of a pod to which a port of a Service refers. If the target port is a name that several ports
// of the pod have, or none, portOf returns nil.
func portOf(of *corev1.ServicePort, p *corev1.Pod) *policies.Port {
	at := policies.Port{Number: of.TargetPort.IntVal, Protocol: cmp.Or(of.Protocol, corev1.ProtocolTCP)}
	if name := of.TargetPort.StrVal; name != "" {
		numbers := policies.PortsNamed(p, name, at.Protocol)
		if len(numbers) != 1 {
			return nil
		}
		at.Number = numbers[0]
	}
	at.Number = cmp.Or(at.Number, of.Port)
	return &at
}

// numberPattern matches a port number in an error.
var numberPattern = regexp.MustCompile(`(?::|\bport[ :=]+)(\d{2,5})\b`)

// targets returns the ports of a pod to which the Service sends connections. If the text contains the number of one of
// the Service's ports, only this port counts.
func targets(o *corev1.Service, p *corev1.Pod, text string) (all []policies.Port) {
	var named []policies.Port
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
		if isNamed(of.Port) || isNamed(at.Number) {
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
	servers, isComplete := readyPods(c, n)
	if !isComplete {
		return nil
	}
	incoming, outgoing := c.blockers(n, servers, text)
	by, effect := (*neighbor.Neighbor)(nil), ""
	switch isNil := func(by *neighbor.Neighbor) bool { return by == nil }; {
	case len(incoming) == 0:
	case !slices.ContainsFunc(incoming, isNil):
		by, effect = incoming[0], " does not allow connections from this pod to "+n.String()+servicePort(c, incoming[0], n)
	case !slices.ContainsFunc(outgoing, isNil):
		by, effect = outgoing[0], " does not allow connections from this pod to "+n.String()
	}
	if by == nil || policies.HasOthers(c.Subject, c.ID.Namespace(), []corev1.Pod{c.pod}) ||
		policies.HasOthers(c.Subject, n.ID.Namespace(), servers) {
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
		return policies.Includes(c.Subject, &from, by.ID.Namespace(), &c.pod)
	}
	for _, r := range neighbor.Decode[networking.NetworkPolicy](by.Object).Spec.Ingress {
		if slices.ContainsFunc(r.Ports, isPort) && (len(r.From) == 0 || slices.ContainsFunc(r.From, isPeer)) {
			return fmt.Sprintf(": it permits port %d of the Service, but must permit the target port %s",
				ports[0].Port, ports[0].TargetPort.String())
		}
	}
	return ""
}

// readyPods returns the ready pods of a Service. isComplete is false if there are possibly more.
func readyPods(c *client, service *neighbor.Neighbor) (ready []corev1.Pod, isComplete bool) {
	pods, isComplete := podsOf(c, service.ID)
	for _, server := range pods {
		if p := neighbor.Decode[corev1.Pod](server.Object); neighbor.IsReady(&p) {
			ready = append(ready, p)
		}
	}
	return ready, isComplete
}

// blockers returns the policies that block connections of the client to a Service. For each port of each ready pod,
// incoming contains the policy of this pod, and outgoing contains the policy of the client. A policy is nil if none
// blocks the connections. Both results are empty if not all policies are known.
func (c *client) blockers(
	n *neighbor.Neighbor, servers []corev1.Pod, text string,
) (incoming, outgoing []*neighbor.Neighbor) {
	o := neighbor.Decode[corev1.Service](n.Object)
	atClient, ok := policies.In(c.Subject, c.ID.Namespace())
	atServer, isKnown := policies.In(c.Subject, n.ID.Namespace())
	if c.pod.Spec.HostNetwork || !ok || !isKnown {
		return nil, nil
	}
	own := policies.Restricting(atClient, &c.pod, networking.PolicyTypeEgress)
	for n := range servers {
		p := &servers[n]
		ports := targets(&o, p, text)
		if p.Spec.HostNetwork || len(ports) == 0 {
			return nil, nil
		}
		others := policies.Restricting(atServer, p, networking.PolicyTypeIngress)
		for i := range ports {
			incoming = append(incoming, policies.BlockingPod(c.Subject, others, &c.pod, p, &ports[i]))
			outgoing = append(outgoing, policies.BlockingPod(c.Subject, own, p, p, &ports[i]))
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
	services, isComplete := subject.AllOf(c.Subject, serviceKind, c.ID.Namespace(), neighbor.Limit)
	isLocal := slices.ContainsFunc(services, func(n neighbor.Neighbor) bool {
		return slices.ContainsFunc(neighbor.Decode[corev1.Service](n.Object).Spec.Ports, isDNS)
	})
	if isLocal || !isComplete {
		return nil
	}
	return c.confined(" does not allow DNS requests from this pod", nil, func(p networking.NetworkPolicyPort) bool {
		return p.Protocol != nil && *p.Protocol == corev1.ProtocolUDP
	})
}

// confined explains the pod by a network policy that permits no connections of the pod to certain ports outside its
// namespace.
func (c *client) confined(
	effect string, service *neighbor.Neighbor, isPort func(networking.NetworkPolicyPort) bool,
) *verdict.Verdict {
	all, ok := policies.In(c.Subject, c.ID.Namespace())
	all = policies.Restricting(all, &c.pod, networking.PolicyTypeEgress)
	if !ok || len(all) == 0 || c.pod.Spec.HostNetwork || policies.PermitElsewhere(all, isPort) ||
		policies.HasOthers(c.Subject, c.ID.Namespace(), []corev1.Pod{c.pod}) {
		return nil
	}
	return c.explainBy(&all[0].Neighbor, effect, service)
}
