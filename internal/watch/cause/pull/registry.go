package pull

import (
	"bytes"
	"fmt"
	"net/netip"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// unreached matches the address and the port of a registry that a container runtime cannot reach.
var unreached = regexp.MustCompile(
	`\bdial tcp (\S+:\d{1,5}): (?:connect: )?(?:connection refused|i/o timeout|no route to host)`)

// maxServices and maxNodes limit the objects that are searched for a port and an address.
const maxServices, maxNodes = 20 * neighbor.Limit, 10 * neighbor.Limit

// stoppedRegistry explains a pod whose image is in a registry of the cluster, by the Service of the registry, if this
// Service has failed. The container runtime connects to a node port of the Service, often on its own node.
func stoppedRegistry(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	found := unreached.FindStringSubmatch(subject.CompleteSentence(s))
	if found == nil {
		return nil
	}
	server, err := netip.ParseAddrPort(found[1])
	if err != nil {
		return nil
	}
	n := serviceOf(s, int32(server.Port()))
	if n == nil {
		return nil
	}
	if !server.Addr().IsLoopback() && server.Addr().String() != p.Status.HostIP {
		s.AddSource("core/v1/nodes", "")
		if !isNode(s, server.Addr()) {
			return nil
		}
	}
	subject.Follow(s, n)
	if !subject.IsDown(s, n) {
		return nil
	}
	v := s.Inherit(n, s.Own.Severity, subject.Sentences(s.Own.Sentence, s.Name(n)+": "))
	v.Reason = s.Own.Reason
	return v
}

// serviceOf returns the Service with a node port, or nil. No two Services have the same node port for TCP.
func serviceOf(s *subject.Subject, port int32) *neighbor.Neighbor {
	all := s.All(graph.Kind{Kind: "Service"}, neighbor.AnyNamespace, maxServices)
	member := fmt.Appendf(nil, `"nodePort":%d`, port)
	at := slices.IndexFunc(all, func(n neighbor.Neighbor) bool {
		if text, _ := n.Object.JSON(); !bytes.Contains(text, member) {
			return false // This is so for most Services, so do not decode them.
		}
		return slices.ContainsFunc(neighbor.Decode[corev1.Service](n.Object).Spec.Ports, func(of corev1.ServicePort) bool {
			return of.NodePort == port && of.Protocol != corev1.ProtocolUDP
		})
	})
	if at < 0 {
		return nil
	}
	return &all[at]
}

// isNode reports whether a node of the cluster has an address.
func isNode(s *subject.Subject, address netip.Addr) bool {
	member := []byte(`"address":"` + address.String() + `"`)
	return slices.ContainsFunc(s.All(graph.Kind{Kind: "Node"}, "", maxNodes), func(n neighbor.Neighbor) bool {
		text, _ := n.Object.JSON()
		return bytes.Contains(text, member)
	})
}
