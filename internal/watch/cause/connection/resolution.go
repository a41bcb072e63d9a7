package connection

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// unresolved explains a pod that cannot resolve the name of a host: no Service with this name exists, or DNS publishes
// no addresses for it.
func (c *client) unresolved(host, text string) *verdict.Verdict {
	services := c.services(host)
	if v := c.missing(services); v != nil {
		return v
	}
	service := existing(services)
	if service == nil || noDNS.MatchString(text) {
		return nil
	}
	if neighbor.Decode[corev1.Service](service.Object).Spec.Type == corev1.ServiceTypeExternalName {
		return c.byAlias(service)
	}
	return c.unpublished(service, host)
}

// byAlias explains a pod that cannot resolve the name of a Service of the type ExternalName, by the problem of this
// Service. A problem of a Service to which the alias points is no explanation: DNS still resolves the alias.
func (c *client) byAlias(service *neighbor.Neighbor) *verdict.Verdict {
	subject.Follow(c.Subject, service)
	if !c.HasProblem(service) || service.Object.Verdict().Unpack().Via != nil {
		return nil
	}
	return c.inherit(service, service)
}

// failedDNS explains a pod that gets no answer from the DNS of the cluster, by the failure of this DNS.
func failedDNS(c *client, _ string) *verdict.Verdict {
	all := servicesOfDNS(c)
	for n := range all {
		subject.Follow(c.Subject, &all[n])
		ready, isComplete := readyPods(c, &all[n])
		if len(ready) > 0 || !isComplete || subject.IsSelectedBy(c.Subject, all[n].ID) {
			return nil
		}
	}
	if len(all) == 0 {
		return nil
	}
	return c.serverFailure(&all[0])
}

// servicesOfDNS returns the Services of the cluster's DNS. By convention, they have the label k8s-app=kube-dns, and are
// in the namespace kube-system. If the namespace of the pod contains such Services, servicesOfDNS returns only these.
func servicesOfDNS(c *client) (all []neighbor.Neighbor) {
	for _, namespace := range []string{c.ID.Namespace(), "kube-system"} {
		var isComplete bool
		if all, isComplete = subject.AllOf(c.Subject, serviceKind, namespace, neighbor.Limit); !isComplete {
			return nil
		}
		all = slices.DeleteFunc(all, func(n neighbor.Neighbor) bool {
			o := neighbor.Decode[corev1.Service](n.Object)
			return o.Labels["k8s-app"] != "kube-dns" || !slices.ContainsFunc(o.Spec.Ports, isDNS)
		})
		if len(all) > 0 {
			break
		}
	}
	return all
}

func isDNS(p corev1.ServicePort) bool { return p.Protocol == corev1.ProtocolUDP && p.Port == portDNS }

// missing explains the pod by the first of the Services, if none of them exists.
func (c *client) missing(services []neighbor.Neighbor) *verdict.Verdict {
	isMissing := func(n neighbor.Neighbor) bool { return n.Presence == neighbor.Missing }
	if len(services) == 0 || slices.ContainsFunc(services, func(n neighbor.Neighbor) bool { return !isMissing(n) }) {
		return nil
	}
	cause := c.MissingCause(&services[0])
	cause.Sentence = subject.Sentences(c.Own.Sentence, cause.Sentence)
	return c.Explain(c.Own.Severity, c.Own.Reason, cause.Sentence, cause)
}

// existing returns the first of the neighbors that is a Service and exists, or nil.
func existing(neighbors []neighbor.Neighbor) *neighbor.Neighbor {
	for n := range neighbors {
		if neighbors[n].ID.Kind == serviceKind && neighbors[n].Object != nil {
			return &neighbors[n]
		}
	}
	return nil
}

// withNodeDNS explains a pod that uses the DNS configuration of its node, and cannot resolve the name of a Service. The
// DNS server of a node usually knows no Services.
func withNodeDNS(c *client, text string) *verdict.Verdict {
	spec, host := &c.pod.Spec, unresolvedHost(text)
	isCustom := spec.DNSConfig != nil && (len(spec.DNSConfig.Nameservers) > 0 || len(spec.DNSConfig.Searches) > 0)
	if host == "" || isCustom || spec.DNSPolicy == corev1.DNSNone || noDNS.MatchString(text) {
		return nil
	}
	service := existing(c.services(host))
	if service == nil {
		return nil
	}
	why := "the pod has the DNS policy Default, with which it uses the DNS servers of its node"
	if spec.HostNetwork && spec.DNSPolicy != corev1.DNSDefault {
		why = "with hostNetwork and the DNS policy ClusterFirst, the pod uses the DNS servers of its node: " +
			"the DNS policy ClusterFirstWithHostNet is needed"
	}
	c.AddSource(service.Resource, service.ID.Namespace())
	return c.Explain(c.Own.Severity, c.Own.Reason,
		subject.Sentences(c.Own.Sentence, c.Name(service)+" exists, but "+why), nil)
}

// unpublished explains a pod that cannot resolve the name of a headless Service. DNS publishes only the addresses of
// ready pods for such a Service, unless its field publishNotReadyAddresses is true.
func (c *client) unpublished(service *neighbor.Neighbor, host string) *verdict.Verdict {
	of := neighbor.Decode[corev1.Service](service.Object).Spec
	isMapped := service.Object.Verdict().Unpack().Reason == "NoSuchPort" // Then DNS publishes the addresses anyway.
	switch {
	case of.ClusterIP != corev1.ClusterIPNone || of.PublishNotReadyAddresses || isMapped:
		return nil
	case !subject.IsSelectedBy(c.Subject, service.ID):
		return c.unreachable(service, host, "")
	}
	peers, why := waitingPeers(c, service, host), "none of its pods is ready: the pods might be waiting for each other"
	switch peers {
	case 0:
		return nil
	case 1:
		why = "its only pod is not ready: the pod might be waiting for itself"
	}
	return c.explainWith(service, service.String()+" does not publish the addresses of pods that are not ready "+
		"(publishNotReadyAddresses), and "+why)
}

// waitingPeers returns the number of pods of the pod's own Service if two conditions are true: no pod of the Service is
// ready, and each other pod with a problem cannot resolve the name of the Service. Otherwise, it returns 0: if a pod
// has another problem, the others possibly wait only for that pod. If the host is a pod of the Service, that pod must
// exist and have an address, and its field subdomain must be the name of the Service, because DNS publishes its name
// for no other Service.
func waitingPeers(c *client, service *neighbor.Neighbor, host string) int {
	peers, ok := podsOf(c, service.ID)
	if !ok {
		return 0
	}
	member, _, _ := strings.Cut(host, ".")
	isPublishable := member == service.ID.Name()
	for _, n := range peers {
		peer := &client{Subject: subject.New(c.Cluster, n), pod: neighbor.Decode[corev1.Pod](n.Object)}
		if neighbor.IsReady(&peer.pod) {
			return 0
		}
		isNamed := peer.pod.Spec.Hostname == member && peer.pod.Spec.Subdomain == service.ID.Name()
		isPublishable = isPublishable || isNamed && peer.pod.Status.PodIP != ""
		if n.ID == c.ID {
			continue
		}
		subject.Follow(c.Subject, &n)
		if peer.Own.Severity.IsProblem() && !failsToResolve(peer, service.ID) {
			return 0
		}
	}
	if !isPublishable {
		return 0
	}
	return len(peers)
}

// failsToResolve reports whether the pod's own problem is that it cannot resolve the name of a Service.
func failsToResolve(c *client, service graph.ID) bool {
	host := unresolvedHost(subject.CompleteSentence(c.Subject))
	return host != "" && slices.ContainsFunc(c.services(host), func(n neighbor.Neighbor) bool { return n.ID == service })
}
