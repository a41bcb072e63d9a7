package connection

import (
	"bytes"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/connection/policies"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// outside explains the pod by a network policy that does not allow connections from the pod to an address that belongs
// to no Service.
func outside(c *client, host, text string) *verdict.Verdict {
	address, err := netip.ParseAddr(host)
	used := usedPorts(host, text)
	isTimeout := noAnswer.MatchString(text) && !strings.Contains(text, " udp ")
	if err != nil || len(used) != 1 || !isTimeout || c.pod.Spec.HostNetwork {
		return nil
	}
	all, ok := policies.In(c.Subject, c.ID.Namespace())
	all = policies.Restricting(all, &c.pod, networking.PolicyTypeEgress)
	by := policies.BlockingAddress(all, address, &policies.Port{Number: used[0], Protocol: corev1.ProtocolTCP})
	if !ok || by == nil || policies.HasOthers(c.Subject, c.ID.Namespace(), []corev1.Pod{c.pod}) || isInside(c, address) {
		return nil
	}
	server := net.JoinHostPort(host, strconv.Itoa(int(used[0])))
	return c.explainBy(by, " does not allow connections from this pod to "+server, nil)
}

// maxServices limits the Services that are searched for an address.
const maxServices = 20 * neighbor.Limit

// isInside reports whether an address is possibly one of the pod, of its node, or of a Service. A policy does not block
// connections of a pod to its node. For the address of a Service, the rules about its pods apply.
func isInside(c *client, address netip.Addr) bool {
	host := address.String()
	if address.IsLoopback() || host == c.pod.Status.PodIP || host == c.pod.Status.HostIP {
		return true
	}
	services, isComplete := subject.AllOf(c.Subject, serviceKind, neighbor.AnyNamespace, maxServices)
	return !isComplete || slices.ContainsFunc(services, func(n neighbor.Neighbor) bool {
		text, _ := n.Object.JSON()
		return bytes.Contains(text, []byte(`"`+host+`"`))
	})
}
