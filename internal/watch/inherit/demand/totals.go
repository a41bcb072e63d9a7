package demand

import "sync"

// Total contains the resource requests of all pods of a namespace. Pods that have ended request nothing.
type Total struct {
	Phases   map[string]int // The number of pods by phase.
	MilliCPU int64
	Memory   int64 // Bytes.
}

// NodeTotal contains the number of pods on a node that have not ended, and the sums of their resource requests.
type NodeTotal struct {
	Pods             int
	MilliCPU, Memory int64 // Memory is in bytes.
}

// Totals contains the Total of each namespace, and the NodeTotal of each node. The zero value is empty. It is safe for
// concurrent use.
type Totals struct {
	mu           sync.Mutex
	byNamespace  map[string]*Total
	byNode       map[string]NodeTotal
	changedNodes map[string]struct{}
}

// Add adds a pod, or removes it if the sign is -1.
func (t *Totals) Add(namespace string, p *Usage, sign int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byNamespace == nil {
		t.byNamespace = make(map[string]*Total)
	}
	total := t.byNamespace[namespace]
	if total == nil {
		total = &Total{Phases: make(map[string]int)}
		t.byNamespace[namespace] = total
	}
	if total.Phases[p.Phase] += sign; total.Phases[p.Phase] == 0 {
		delete(total.Phases, p.Phase)
	}
	if p.Phase != "Succeeded" && p.Phase != "Failed" {
		total.MilliCPU += int64(sign) * p.MilliCPU
		total.Memory += int64(sign) * p.Memory
		t.addToNode(p, sign)
	}
	if len(total.Phases) == 0 {
		delete(t.byNamespace, namespace)
	}
}

func (t *Totals) addToNode(p *Usage, sign int) {
	if p.Node == "" {
		return
	}
	if t.byNode == nil {
		t.byNode = make(map[string]NodeTotal)
	}
	total := t.byNode[p.Node]
	total.Pods += sign
	total.MilliCPU += int64(sign) * p.MilliCPU
	total.Memory += int64(sign) * p.Memory
	t.byNode[p.Node] = total
	if total.Pods == 0 {
		delete(t.byNode, p.Node)
	}
	t.markChanged(p.Node)
}

func (t *Totals) markChanged(node string) {
	if t.changedNodes == nil {
		t.changedNodes = make(map[string]struct{})
	}
	t.changedNodes[node] = struct{}{}
}

// Reset removes all pods.
func (t *Totals) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for node := range t.byNode {
		t.markChanged(node)
	}
	t.byNamespace, t.byNode = nil, nil
}

// Node returns the sums of the pods on a node.
func (t *Totals) Node(name string) NodeTotal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byNode[name]
}

// TakeChangedNodes returns the nodes whose sums have changed since the last call.
func (t *Totals) TakeChangedNodes() map[string]struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	nodes := t.changedNodes
	t.changedNodes = nil
	return nodes
}

// Sum adds up the Totals of all namespaces for which include returns true.
func (t *Totals) Sum(include func(namespace string) bool) Total {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := Total{Phases: make(map[string]int)}
	for namespace, total := range t.byNamespace {
		if !include(namespace) {
			continue
		}
		for phase, count := range total.Phases {
			sum.Phases[phase] += count
		}
		sum.MilliCPU += total.MilliCPU
		sum.Memory += total.Memory
	}
	return sum
}
