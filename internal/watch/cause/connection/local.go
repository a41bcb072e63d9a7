package connection

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// loopback matches a port of the client's own host.
var loopback = regexp.MustCompile(`(?:\b127\.0\.0\.1|\blocalhost|\[::1\]):(\d{1,5})\b`)

// onNode explains a pod that cannot connect to a port of its own host, by the pod that serves this port, if both use
// the network of their node. For example, an API server connects to the etcd of its node. If several pods possibly
// serve the port, onNode returns nil.
func (c *client) onNode(text string) *verdict.Verdict {
	port := LocalPort(text)
	if !c.pod.Spec.HostNetwork || port == 0 || serves(&c.pod, port) {
		return nil
	}
	server := subject.FailedAgent(c.Subject, c.pod.Spec.NodeName, func(p *corev1.Pod) bool {
		return p.Spec.HostNetwork && serves(p, port)
	})
	return c.byServer(server, server)
}

// LocalPort returns the only port of the client's own host that refuses a connection according to a text, or 0.
func LocalPort(text string) int32 {
	text = errorIn(text, noConnection)
	found := hostsIn(loopback, text)
	if len(found) != 1 || !refused.MatchString(text) {
		return 0
	}
	port, _ := strconv.ParseInt(found[0], 10, 32) // This never fails: the text consists of at most five digits.
	return int32(port)
}

// withoutNodeLocalDNS explains a pod that gets no answer from the only DNS server that it asks, by the pod of this
// server on the same node. Such a server uses the network of the node. Its settings contain the address.
func withoutNodeLocalDNS(c *client, text string) *verdict.Verdict {
	found := noDNS.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	address := found[1]
	if config := c.pod.Spec.DNSConfig; c.pod.Spec.DNSPolicy == corev1.DNSNone && config != nil &&
		len(config.Nameservers) == 1 {
		address = config.Nameservers[0]
	}
	if !isAddress(address) {
		return nil
	}
	server := subject.FailedAgent(c.Subject, c.pod.Spec.NodeName, func(p *corev1.Pod) bool {
		return p.Spec.HostNetwork && serves(p, portDNS) && slices.ContainsFunc(p.Spec.Containers,
			func(of corev1.Container) bool {
				return subject.ContainsName(strings.Join(slices.Concat(of.Command, of.Args), " "), address)
			})
	})
	if server == nil || server.ID == c.ID {
		return nil
	}
	return c.inherit(server, server)
}

// serves reports whether a container of a pod serves a port.
func serves(p *corev1.Pod, port int32) bool {
	return slices.ContainsFunc(p.Spec.Containers, func(of corev1.Container) bool { return subject.Serves(&of, port) })
}
