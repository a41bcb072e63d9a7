package overview

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

func (b *builder) addSummary() {
	s := &b.result.Summary
	s.APIServer = b.apiServer()
	var allocatable corev1.ResourceList
	nodes := &Nodes{}
	var cpu, memory resource.Quantity
	hasNodes := b.each(graph.Kind{Kind: "Node"}, func(o *compact.Object) {
		n := neighbor.Decode[corev1.Node](o)
		nodes.Total++
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				nodes.Ready++
			}
		}
		allocatable = n.Status.Allocatable
		cpu.Add(allocatable[corev1.ResourceCPU])
		memory.Add(allocatable[corev1.ResourceMemory])
	})
	if hasNodes {
		s.Nodes = nodes
	}
	if f := b.filters[graph.Kind{Kind: "Pod"}]; f != nil && isComplete(f) {
		usage := b.deps.Engine.Usage(func(namespace string) bool {
			return len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, namespace)
		})
		s.Pods = usage.Phases
		s.CPU = &Amount{Requested: float64(usage.MilliCPU) / 1000, Allocatable: cpu.AsApproximateFloat64()}
		s.Memory = &Amount{Requested: float64(usage.Memory), Allocatable: memory.AsApproximateFloat64()}
	}
	if len(b.namespaces) == 1 {
		b.each(graph.Kind{Kind: "ResourceQuota"}, func(o *compact.Object) { s.Quotas = append(s.Quotas, quotasOf(o)...) })
	}
}

// apiServer returns the state of the connection to the API server. The state is stale if discovery has no response, or
// if all watches are stale.
func (b *builder) apiServer() APIServer {
	h := b.deps.APIServer()
	s := APIServer{State: status.Live, Reason: h.Reason}
	if w := b.result.Watched; s.Reason == "" && len(w) > 0 && !slices.ContainsFunc(w, func(w Watched) bool {
		return w.State != status.Stale
	}) {
		s.Reason = w[0].Reason
	}
	if s.Reason != "" {
		s.State = status.Stale
	}
	if b.isGuest() {
		s.Reason = "" // Only the data of the share link is shared, not facts about the cluster.
		return s
	}
	s.Version = h.Version
	if s.State == status.Live && h.Latency > 0 {
		s.LatencyMS = latencyStep(h.Latency)
	}
	return s
}

// latencyStep rounds a latency up to 1, 2 or 5 times a power of ten milliseconds, so that small differences do not
// cause new messages.
func latencyStep(latency time.Duration) int {
	ms := int((latency + time.Millisecond - 1) / time.Millisecond)
	for step := 1; ; step *= 10 {
		for _, n := range []int{step, 2 * step, 5 * step} {
			if ms <= n {
				return n
			}
		}
	}
}

func quotasOf(o *compact.Object) (quotas []Quota) {
	q := neighbor.Decode[corev1.ResourceQuota](o)
	for name, hard := range q.Status.Hard {
		used := q.Status.Used[name]
		percent := 0
		if most := hard.AsApproximateFloat64(); most > 0 {
			percent = int(100 * used.AsApproximateFloat64() / most)
		}
		quotas = append(quotas, Quota{
			Name: q.Name, Resource: string(name), Used: used.String(), Hard: hard.String(), Percent: percent,
		})
	}
	slices.SortFunc(quotas, func(x, y Quota) int { return strings.Compare(x.Resource, y.Resource) })
	return quotas
}
