package connection

import (
	"regexp"
	"slices"
	"strconv"

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
	text = errorIn(text)
	found := hostsIn(loopback, text)
	if len(found) != 1 || !refused.MatchString(text) {
		return 0
	}
	port, err := strconv.ParseInt(found[0], 10, 32)
	if err != nil {
		return 0
	}
	return int32(port)
}

// serves reports whether a container of a pod serves a port.
func serves(p *corev1.Pod, port int32) bool {
	return slices.ContainsFunc(p.Spec.Containers, func(of corev1.Container) bool { return subject.Serves(&of, port) })
}
