package traffic

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// maxPods limits the pods of a Service that are read. Most Services need only the first of them.
const maxPods = 10 * neighbor.Limit

// selection contains the pods that a selector selects.
type selection struct {
	*subject.Subject

	unread     []graph.ID
	isComplete bool // There are no further pods, so a fact about all read and unread ones is a fact about all pods.
	ready      []corev1.Pod
	unready    []neighbor.Neighbor
}

func newSelection(s *subject.Subject, namespace string, selector *objectrefs.Selector) *selection {
	ids := s.Selected(namespace, selector, maxPods)
	isComplete := len(ids) < maxPods && subject.KnowsAll(s, graph.Kind{Kind: "Pod"}, namespace)
	return &selection{Subject: s, unread: ids, isComplete: isComplete}
}

// read reads at most limit further pods.
func (p *selection) read(limit int) {
	count := min(limit, len(p.unread))
	for _, n := range p.Existing(p.unread[:count]) {
		if pod := neighbor.Decode[corev1.Pod](n.Object); neighbor.IsReady(&pod) {
			p.ready = append(p.ready, pod)
		} else {
			p.unready = append(p.unready, n)
		}
	}
	p.unread = p.unread[count:]
}
