// Package ports finds ports of a Service whose target port the pods of the Service do not have.
package ports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Reason is the reason of a verdict on a port that no object serves.
const Reason = "NoSuchPort"

// Wrong reports a port of the Service with a target port that the ready pods do not have.
func Wrong(s *subject.Subject, o *corev1.Service, ready []corev1.Pod) *verdict.Verdict {
	if v := Missing(s, o, ready); v != nil || o.Spec.ClusterIP == corev1.ClusterIPNone {
		return v // Clients of a headless Service connect directly to ports of pods, declared or not.
	}
	for n := range o.Spec.Ports {
		port := &o.Spec.Ports[n]
		if v := cmp.Or(undeclaredPort(s, o, port, ready), otherProtocol(s, port, ready)); v != nil {
			return v
		}
	}
	return nil
}

// Missing reports a port of the Service whose target port is a name that none of the ready pods has.
func Missing(s *subject.Subject, o *corev1.Service, ready []corev1.Pod) *verdict.Verdict {
	for n := range o.Spec.Ports {
		port := &o.Spec.Ports[n]
		name := port.TargetPort.StrVal
		has := func(protocol corev1.Protocol) bool {
			return slices.ContainsFunc(ready, func(p corev1.Pod) bool { return hasPort(&p, name, protocol) })
		}
		if port.TargetPort.Type != intstr.String || has(cmp.Or(port.Protocol, corev1.ProtocolTCP)) {
			continue
		}
		sentence := fmt.Sprintf("Service port %s has no endpoints: no container has a port named %q", nameOf(port), name)
		if has("") {
			sentence += " with the protocol " + string(cmp.Or(port.Protocol, corev1.ProtocolTCP))
		}
		severity := verdict.Degraded
		if len(o.Spec.Ports) == 1 {
			severity = verdict.Failed
		}
		return s.Explain(severity, Reason, sentence, nil)
	}
	return nil
}

func nameOf(port *corev1.ServicePort) string { return cmp.Or(port.Name, strconv.Itoa(int(port.Port))) }

// hasPort reports whether a container of the pod has a port with this name and protocol. An empty protocol means any.
func hasPort(p *corev1.Pod, name string, protocol corev1.Protocol) bool {
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for n := range containers {
			for _, port := range containers[n].Ports {
				isProtocol := protocol == "" || protocol == cmp.Or(port.Protocol, corev1.ProtocolTCP)
				if port.Name == name && isProtocol {
					return true
				}
			}
		}
	}
	return false
}

// listener is a declared port of a container.
type listener struct {
	container string
	name      string
	port      int32
}

// undeclaredPort reports a port of the Service whose target port is a number that no container of the pods declares.
// This alone proves no mistake, because a container can listen on an undeclared port. The pods must also declare a port
// that the Service probably means (see meantBy), and to which no Service sends connections.
func undeclaredPort(
	s *subject.Subject, o *corev1.Service, port *corev1.ServicePort, ready []corev1.Pod,
) *verdict.Verdict {
	if port.TargetPort.Type != intstr.Int {
		return nil
	}
	var meant *listener
	for n := range ready {
		if meant = meantBy(port, len(o.Spec.Ports) == 1, &ready[n]); meant == nil {
			return nil
		}
	}
	if isTarget(s, meant, "", &ready[len(ready)-1]) {
		return nil
	}
	number := port.TargetPort.IntValue()
	return s.Explain(verdict.Degraded, Reason, fmt.Sprintf("Connections to Service port %s probably fail: its target "+
		"port is %d, but container %s declares port %d, and no container declares port %d",
		nameOf(port), number, meant.container, meant.port, number), nil)
}

// otherProtocol reports a TCP port of a Service whose target port the pods declare only for UDP. TCP is the protocol of
// a port without one, so a forgotten protocol is the probable mistake. The rule does not apply if a Service has the
// port with UDP, because a container that listens for both protocols possibly declares only one of them.
func otherProtocol(s *subject.Subject, port *corev1.ServicePort, ready []corev1.Pod) *verdict.Verdict {
	if cmp.Or(port.Protocol, corev1.ProtocolTCP) != corev1.ProtocolTCP {
		return nil
	}
	var declared *listener
	for n := range ready {
		if declared = declaredForUDP(port.TargetPort, &ready[n]); declared == nil {
			return nil
		}
	}
	if declared == nil || isTarget(s, declared, corev1.ProtocolUDP, &ready[len(ready)-1]) {
		return nil
	}
	return s.Explain(verdict.Degraded, Reason, fmt.Sprintf("Connections to Service port %s probably fail: its "+
		"protocol is TCP, but container %s declares port %d only for UDP",
		nameOf(port), declared.container, declared.port), nil)
}

// declaredForUDP returns the declared UDP port of a pod at a target port. If a container possibly listens on the port
// for TCP, or if clients can use the port of the node, the function returns nil.
func declaredForUDP(target intstr.IntOrString, p *corev1.Pod) (found *listener) {
	for _, c := range longRunning(p) {
		if len(c.Ports) == 0 {
			return nil
		}
		for _, port := range c.Ports {
			l := listener{c.Name, port.Name, port.ContainerPort}
			if !l.isAt(target) {
				continue
			}
			if port.Protocol != corev1.ProtocolUDP || port.HostPort != 0 || isProbed(c, &l) {
				return nil // A successful probe proves that the container listens for TCP.
			}
			found = &l
		}
	}
	return found
}

// maxDefault is the highest Service port for which users often omit the target port by mistake. The API server then
// sets the target port to the port of the Service.
const maxDefault = 1023

// meantBy returns the declared port of a pod that a port of a Service probably means: the one with the same name, or
// the only declared port that a probe checks. In the second case, the Service must have no other port, and the target
// port must have the default value. If a container possibly listens on the target port, meantBy returns nil.
func meantBy(port *corev1.ServicePort, isOnly bool, p *corev1.Pod) *listener {
	isDefault := isOnly && port.Port == port.TargetPort.IntVal && port.Port <= maxDefault
	var named, probed []listener
	for _, c := range longRunning(p) {
		if canListen(c, port.TargetPort.IntVal) {
			return nil
		}
		for _, l := range listenersOf(c, port.Protocol) {
			if port.Name != "" && l.name == port.Name {
				named = append(named, l)
			}
			if isDefault && isProbed(c, &l) && !auxiliary.MatchString(l.name) {
				probed = append(probed, l)
			}
		}
	}
	for _, found := range [][]listener{named, probed} {
		if len(found) == 1 {
			return &found[0]
		}
	}
	return nil
}

// canListen reports whether a container possibly listens on a port: it declares this port, or no ports at all.
func canListen(c *corev1.Container, number int32) bool {
	isPort := func(p corev1.ContainerPort) bool { return p.ContainerPort == number }
	return len(c.Ports) == 0 || slices.ContainsFunc(c.Ports, isPort)
}

// listenersOf returns the ports with the given protocol that a container declares.
func listenersOf(c *corev1.Container, protocol corev1.Protocol) (found []listener) {
	for _, p := range c.Ports {
		if cmp.Or(p.Protocol, corev1.ProtocolTCP) == cmp.Or(protocol, corev1.ProtocolTCP) {
			found = append(found, listener{c.Name, p.Name, p.ContainerPort})
		}
	}
	return found
}

// auxiliary matches the name of a port that a container declares in addition to the port of its service.
var auxiliary = regexp.MustCompile(`(?i)metric|prom|health|live|ready|probe|status|stat|admin|manage|monitor|debug`)

// longRunning returns the containers that run as long as the pod.
func longRunning(p *corev1.Pod) (containers []*corev1.Container) {
	for n := range p.Spec.Containers {
		containers = append(containers, &p.Spec.Containers[n])
	}
	for n := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[n]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			containers = append(containers, c)
		}
	}
	return containers
}

// isProbed reports whether the container's readiness probe checks the port. If so, a ready container listens on it.
func isProbed(c *corev1.Container, l *listener) bool {
	if c.ReadinessProbe == nil {
		return false
	}
	var at intstr.IntOrString
	switch probe := &c.ReadinessProbe.ProbeHandler; {
	case probe.HTTPGet != nil:
		at = probe.HTTPGet.Port
	case probe.TCPSocket != nil:
		at = probe.TCPSocket.Port
	case probe.GRPC != nil:
		at = intstr.FromInt32(probe.GRPC.Port)
	}
	return l.isAt(at)
}

// isAt reports whether a target port or the port of a probe is the declared port.
func (l *listener) isAt(port intstr.IntOrString) bool {
	return port.Type == intstr.Int && port.IntVal == l.port || port.Type == intstr.String && port.StrVal == l.name
}

// isTarget reports whether a Service that selects the pod sends connections with a protocol to the declared port. An
// empty protocol means any. The function also returns true if not all Services are known.
func isTarget(s *subject.Subject, l *listener, protocol corev1.Protocol, p *corev1.Pod) bool {
	kind := graph.Kind{Kind: "Service"}
	services, isComplete := subject.AllOf(s, kind, s.ID.Namespace(), neighbor.Limit)
	if !isComplete {
		return true
	}
	return slices.ContainsFunc(services, func(n neighbor.Neighbor) bool {
		selector := s.Selector(n.ID)
		if selector == nil || !selector.Matches(p.Labels) {
			return false
		}
		o := neighbor.Decode[corev1.Service](n.Object)
		return slices.ContainsFunc(o.Spec.Ports, func(port corev1.ServicePort) bool {
			return l.isAt(port.TargetPort) && (protocol == "" || port.Protocol == protocol)
		})
	})
}
