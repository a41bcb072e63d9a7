package storage

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// busyDevice matches an error about the device of a Longhorn volume that another program uses.
var busyDevice = regexp.MustCompile(`/dev/longhorn/\S+ (?:is )?` +
	`(?:already mounted or (?:\S+|mount point) busy|apparently in use by the system)`)

// maxNodes limits how many nodes of Longhorn are searched.
const maxNodes = 10 * neighbor.Limit

// usedByMultipath explains a pod whose Longhorn volume is busy by the node of Longhorn, if this node reports that the
// multipath daemon of the Linux node uses the devices of volumes.
func usedByMultipath(s *subject.Subject, p *corev1.Pod, last *corev1.Event) *verdict.Verdict {
	if !busyDevice.MatchString(last.Message) {
		return nil
	}
	kind := graph.Kind{Group: "longhorn.io", Kind: "Node"}
	nodes, isComplete := subject.AllOf(s, kind, neighbor.AnyNamespace, maxNodes)
	nodes = slices.DeleteFunc(nodes, func(n neighbor.Neighbor) bool { return n.ID.Name() != p.Spec.NodeName })
	if len(nodes) != 1 || !isComplete {
		return nil
	}
	on := &nodes[0]
	subject.Follow(s, on)
	for _, c := range neighbor.Conditions(on.Object, metav1.ConditionFalse) {
		if c.Type == "Multipathd" {
			s.AddSource(subject.EventsRef, last.Namespace)
			return s.ExplainBy(on, verdict.Degraded, last.Reason,
				subject.Sentences(strings.TrimSpace(last.Message), s.Name(on)+": "+c.Message))
		}
	}
	return nil
}
