package storage

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/connection"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxServices limits the Services that are searched for an IP address.
const maxServices = 20 * neighbor.Limit

// stoppedServer explains a pod that cannot mount a network volume, if the server of the volume is a Service of the
// cluster, and this Service has no ready endpoints.
func stoppedServer(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	found := volumePattern.FindStringSubmatch(last.Message)
	if found == nil || last.Reason != "FailedMount" {
		return nil
	}
	host, source := serverOf(s, p, found[1])
	n := serviceAt(s, host)
	if n == nil {
		return nil
	}
	subject.Follow(s, n)
	if !subject.IsDown(s, n) {
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	if source != "" {
		s.AddSource(source, "")
	}
	return s.Inherit(n, verdict.Degraded, subject.Sentences(strings.TrimSpace(last.Message), s.Name(n)+": "))
}

// failedRequest explains a pod that gets no volume because the CSI driver of the volume cannot use a server, such as
// Vault. The message of the event names the host of the server, whose Service has failed or has no ready pods. The
// driver possibly runs in another namespace than the pod, so the name of the host must contain the namespace.
func failedRequest(s *subject.Subject, _ *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	if last.Reason != "FailedMount" && last.Reason != "FailedAttachVolume" {
		return nil
	}
	for _, host := range connection.FailedHosts(last.Message) {
		namespace, name := connection.ServiceOf(s, host)
		service := graph.NewID(graph.Kind{Kind: "Service"}, namespace, name)
		if name == "" || !strings.Contains(host, name+"."+namespace) || subject.IsSelectedBy(s, service) {
			continue
		}
		if n := connection.FailedServer(s, service); n != nil {
			s.AddSource(subject.EventsRef, last.Namespace)
			return s.Inherit(n, verdict.Degraded, subject.Sentences(strings.TrimSpace(last.Message), s.Name(n)+": "))
		}
	}
	return nil
}

// serverOf returns the NFS or SMB server of a volume that an event names, or "". The volume is one in the spec of the
// pod, or a PersistentVolume. In the second case, source is the resource of PersistentVolumes.
func serverOf(s *subject.Subject, p *corev1.Pod, name string) (host, source string) {
	for n := range p.Spec.Volumes {
		switch v := &p.Spec.Volumes[n]; {
		case v.Name != name:
		case v.NFS != nil:
			return v.NFS.Server, ""
		case v.CSI != nil:
			return serverIn(v.CSI.VolumeAttributes), ""
		}
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", volumeName(s, p, name)))
	volume := neighbor.Decode[corev1.PersistentVolume](n.Object)
	owner := volume.Spec.ClaimRef
	if owner == nil || owner.Namespace != s.ID.Namespace() {
		return "", ""
	}
	switch {
	case volume.Spec.NFS != nil:
		return volume.Spec.NFS.Server, n.Resource
	case volume.Spec.CSI != nil:
		return serverIn(volume.Spec.CSI.VolumeAttributes), n.Resource
	}
	return "", ""
}

// serverIn returns the server in the attributes of the CSI drivers for NFS and SMB.
func serverIn(attributes map[string]string) string {
	if share, ok := strings.CutPrefix(attributes["source"], "//"); ok {
		server, _, _ := strings.Cut(share, "/")
		return server
	}
	return attributes["server"]
}

// serviceAt returns the Service with a host name such as nfs.storage.svc.cluster.local, or with an IP address, or nil.
func serviceAt(s *subject.Subject, host string) *neighbor.Neighbor {
	kind := graph.Kind{Kind: "Service"}
	if namespace, name := objectrefs.ServiceOf(host); name != "" {
		n := s.Find(graph.NewID(kind, namespace, name))
		return &n
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return nil
	}
	all := s.All(kind, neighbor.AnyNamespace, maxServices)
	at := slices.IndexFunc(all, func(n neighbor.Neighbor) bool {
		text, err := n.Object.JSON()
		if err != nil || !bytes.Contains(text, []byte(host)) {
			return false // Do not decode it.
		}
		return slices.Contains(neighbor.Decode[corev1.Service](n.Object).Spec.ClusterIPs, host)
	})
	if at < 0 {
		return nil
	}
	return &all[at]
}
