package connection

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/connection/policies"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// notForwarded explains the pod by a Service that has ready pods, but does not forward the connection to any of them.
func (c *client) notForwarded(n *neighbor.Neighbor, host, text string) *verdict.Verdict {
	servers, ok := podsOf(c, n.ID)
	if !ok {
		return nil
	}
	o := neighbor.Decode[corev1.Service](n.Object)
	var usable, ready []corev1.Pod
	var local []neighbor.Neighbor // The pods that have not ended, on the node of the client.
	for _, server := range servers {
		p := neighbor.Decode[corev1.Pod](server.Object)
		isReady := neighbor.IsReady(&p)
		if isReady {
			ready = append(ready, p)
		}
		// Include pods that are being deleted, because the Service uses them if no other pod is ready.
		if isReady || p.DeletionTimestamp != nil || o.Spec.PublishNotReadyAddresses {
			usable = append(usable, p)
		}
		if !subject.IsFinished(&p) && p.Spec.NodeName == c.pod.Spec.NodeName {
			local = append(local, server)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	if o.Spec.ClusterIP == corev1.ClusterIPNone {
		return unmappedPort(c, n, &o, ready, usedPorts(host, text), text)
	}
	return notLocal(c, n, &o, usable, local)
}

// notLocal explains the pod by a Service that forwards connections only to its pods on the node of the client, if no
// pod of the Service is on this node. If such pods exist, but are not usable, it explains the pod by their problem.
func notLocal(
	c *client, n *neighbor.Neighbor, o *corev1.Service, usable []corev1.Pod, local []neighbor.Neighbor,
) *verdict.Verdict {
	policy, node := o.Spec.InternalTrafficPolicy, c.pod.Spec.NodeName
	isLocal := func(p corev1.Pod) bool { return p.Spec.NodeName == node }
	if policy == nil || *policy != corev1.ServiceInternalTrafficPolicyLocal || node == "" ||
		slices.ContainsFunc(usable, isLocal) {
		return nil
	}
	if len(local) > 0 {
		return c.byServer(c.worst(local), n)
	}
	return c.explainWith(n, fmt.Sprintf("%s has the internal traffic policy Local, so it routes connections from this "+
		"pod only to pods on node %s, but has no ready pod there", n, node))
}

// withoutAPI explains the pod by a network policy that permits no connections to the API server n. The API server is
// not a pod that a policy can select.
func withoutAPI(c *client, n *neighbor.Neighbor) *verdict.Verdict {
	var ports []policies.Port
	for _, of := range neighbor.Decode[corev1.Service](n.Object).Spec.Ports {
		ports = append(ports, policies.Port{Number: of.Port, Protocol: corev1.ProtocolTCP},
			policies.Port{Number: of.TargetPort.IntVal, Protocol: corev1.ProtocolTCP})
	}
	effect := " does not allow connections from this pod to " + c.Name(n)
	return c.confined(effect, n, func(p networking.NetworkPolicyPort) bool {
		return slices.ContainsFunc(ports, func(at policies.Port) bool {
			return at.IsIn([]networking.NetworkPolicyPort{p}, &corev1.Pod{})
		})
	})
}

// withoutProxy explains the pod by kube-proxy on its node, if kube-proxy fails, and the server is available.
func withoutProxy(c *client, n *neighbor.Neighbor) *verdict.Verdict {
	ready, _ := readyPods(c, n)
	isHeadless := neighbor.Decode[corev1.Service](n.Object).Spec.ClusterIP == corev1.ClusterIPNone
	if isHeadless || n.ID != apiServer && len(ready) == 0 {
		return nil
	}
	proxy := subject.FailedAgent(c.Subject, c.pod.Spec.NodeName, subject.IsServiceProxy)
	if proxy == nil || proxy.ID == c.ID {
		return nil
	}
	return c.inherit(proxy, proxy)
}

// refused matches an error about a port on which no program listens.
var refused = regexp.MustCompile(`(?i)\b(?:refused|ECONNREFUSED|couldn't connect to server)\b`)

// unmappedPort explains the pod by a headless Service, if the pod uses a port of the Service, but the pods of the
// Service use another port. The name of a headless Service resolves to the addresses of its pods, so nothing maps the
// port.
func unmappedPort(
	c *client, n *neighbor.Neighbor, o *corev1.Service, ready []corev1.Pod, used []int32, text string,
) *verdict.Verdict {
	if len(used) != 1 || !refused.MatchString(text) {
		return nil
	}
	target := int32(0)
	for i := range ready {
		at := targetOf(o, &ready[i], used[0])
		if at == 0 || target != 0 && at != target {
			return nil
		}
		target = at
	}
	return c.explainWith(n, fmt.Sprintf("%s is headless, so nothing maps its port %d to the target port: "+
		"clients must use port %d", n, used[0], target))
}

// targetOf returns the port of a pod to which a port of a Service (used) refers. It returns 0 if both ports have the
// same number, or if the pod declares a port with the number of the Service's port.
func targetOf(o *corev1.Service, p *corev1.Pod, used int32) (target int32) {
	for _, declared := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if slices.ContainsFunc(declared.Ports, func(port corev1.ContainerPort) bool { return port.ContainerPort == used }) {
			return 0
		}
	}
	for _, of := range o.Spec.Ports {
		at := portOf(&of, p)
		if at == nil || at.Number == used {
			return 0
		}
		if of.Port == used && at.Protocol == corev1.ProtocolTCP {
			target = at.Number
		}
	}
	return target
}

// usedPorts returns the ports to which a client connects on a host, according to a text. It returns each port only
// once. Without a port, a URL means the default port of its scheme.
func usedPorts(host, text string) (ports []int32) {
	name := regexp.QuoteMeta(host) + `\.?` // A dot at the end means that DNS adds no search domain.
	explicit := regexp.MustCompile(`\b` + name + `(?::|` + Quote +
		`\)?(?: \([0-9a-f.:]+\))?,? (?:(?:on|at) )?port[ :=]+)(\d{1,5})\b`)
	for _, found := range explicit.FindAllStringSubmatch(text, maxHosts) {
		if number, err := strconv.ParseInt(found[1], 10, 32); err == nil && !slices.Contains(ports, int32(number)) {
			ports = append(ports, int32(number))
		}
	}
	for scheme, number := range map[string]int32{"http": 80, "https": 443} {
		url := regexp.MustCompile(`\b` + scheme + `://(?:[^\s/@"']*@)?` + name + `(?:[/?"'\s,;)]|$)`)
		if url.MatchString(text) && !slices.Contains(ports, number) {
			ports = append(ports, number)
		}
	}
	return ports
}
