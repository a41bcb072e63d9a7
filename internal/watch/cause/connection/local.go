package connection

import (
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	// loopback matches a port of the client's own host.
	loopback = regexp.MustCompile(`(?:\b127\.0\.0\.1|\blocalhost|\[::1\]):(\d{1,5})\b`)
	// listens matches a setting with the addresses or the port on which a program listens, such as
	// --listen-client-urls=https://127.0.0.1:2379.
	listens = regexp.MustCompile(`^-[a-z.-]*[.-](?:listen|bind|port)(?:[.-][a-z.-]*)?=(.*)`)
	// number matches a port in such a setting.
	number = regexp.MustCompile(`(?:^|:)(\d{1,5})(?:,|/|$)`)
)

// onNode explains a pod that cannot connect to a port of its own host, by the pod that serves this port, if both use
// the network of their node. For example, an API server connects to the etcd of its node. If several pods possibly
// serve the port, onNode returns nil.
func (c *client) onNode(text string) *verdict.Verdict {
	found := hostsIn(loopback, text)
	if !c.pod.Spec.HostNetwork || len(found) != 1 || !refused.MatchString(text) {
		return nil
	}
	port, err := strconv.ParseInt(found[0], 10, 32)
	if err != nil || serves(&c.pod, int32(port)) {
		return nil
	}
	server := subject.FailedAgent(c.Subject, c.pod.Spec.NodeName, func(p *corev1.Pod) bool {
		return p.Spec.HostNetwork && serves(p, int32(port))
	})
	return c.byServer(server, server)
}

// serves reports whether a pod declares a port, or a setting of its programs contains the port.
func serves(p *corev1.Pod, port int32) bool {
	return slices.ContainsFunc(p.Spec.Containers, func(of corev1.Container) bool {
		isSame := func(declared corev1.ContainerPort) bool { return declared.ContainerPort == port }
		return slices.ContainsFunc(of.Ports, isSame) ||
			slices.ContainsFunc(slices.Concat(of.Command, of.Args), func(setting string) bool {
				value := listens.FindStringSubmatch(setting)
				return value != nil && slices.Contains(hostsIn(number, value[1]), strconv.Itoa(int(port)))
			})
	})
}
