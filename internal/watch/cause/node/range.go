package node

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// fullRange matches an error of Cilium's network plugin on a node whose pod addresses are all in use.
var fullRange = regexp.MustCompile(`plugin type="cilium-cni" .*\b(?:range is full|ranges are exhausted)`)

// FullRange explains a pod that gets no network by the CiliumNode with the ranges of pod addresses of its node, if the
// addresses of these ranges are all in use.
func FullRange(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	if last.Reason != "FailedCreatePodSandBox" || !fullRange.MatchString(last.Message) {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Group: "cilium.io", Kind: "CiliumNode"}, "", p.Spec.NodeName))
	subject.Follow(s, &n)
	ranges := neighbor.Decode[struct {
		Spec struct {
			IPAM struct {
				PodCIDRs []string `json:"podCIDRs"`
			} `json:"ipam"`
		} `json:"spec"`
	}](n.Object).Spec.IPAM.PodCIDRs
	if len(ranges) == 0 {
		return nil // Another object contains the addresses.
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	return s.ExplainBy(&n, verdict.Degraded, last.Reason, subject.Sentences(last.Message,
		fmt.Sprintf("%s has only the pod addresses %s", n.String(), strings.Join(ranges, ", "))))
}
