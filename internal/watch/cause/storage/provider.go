package storage

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// absentProvider matches the name of a provider that the Secrets Store CSI driver does not find on the node.
var absentProvider = regexp.MustCompile(`error connecting to provider "([\w-]+)": provider not found`)

// withoutProvider explains a pod whose secrets are from a provider that does not run on the node of the pod, by the
// only DaemonSet of this provider, or by its pod on this node.
func withoutProvider(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	found := absentProvider.FindStringSubmatch(last.Message)
	if found == nil {
		return nil
	}
	sets, ok := providers(s, found[1])
	if !ok || len(sets) != 1 {
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	return notOnNode(s, &sets[0], p.Spec.NodeName, "ProviderNotFound",
		fmt.Sprintf("The secrets provider %s does not run on Node %s: ", found[1], p.Spec.NodeName))
}

// providers returns the DaemonSets of a secrets provider. The name of such a DaemonSet or of its container contains the
// name of the provider. It creates a socket in a certain folder of the node. The Secrets Store CSI driver itself also
// uses this folder, but registers with the kubelet. The result ok is false if further DaemonSets possibly exist.
func providers(s *subject.Subject, name string) (found []neighbor.Neighbor, ok bool) {
	const folder = "secrets-store-csi-providers"
	named := regexp.MustCompile(`(?i)(?:^|[^a-z0-9])` + regexp.QuoteMeta(name) + `(?:[^a-z0-9]|$)`)
	isDriver := func(c corev1.Container) bool { return strings.Contains(c.Name, "registrar") }
	found, ok = subject.DaemonSets(s, func(all []corev1.Container) bool {
		return !slices.ContainsFunc(all, isDriver)
	}, folder)
	return slices.DeleteFunc(found, func(n neighbor.Neighbor) bool {
		spec := subject.Template(&n).Spec
		isNamed := named.MatchString(n.ID.Name()) || slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool {
			return named.MatchString(c.Name) || named.MatchString(path.Base(c.Image))
		})
		return !isNamed || !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
			return v.HostPath != nil && path.Base(v.HostPath.Path) == folder
		})
	}), ok
}
