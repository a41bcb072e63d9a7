package demand

import "sync"

// Total contains the resource requests of all pods of a namespace. Pods that have ended request nothing.
type Total struct {
	Phases   map[string]int // The number of pods by phase.
	MilliCPU int64
	Memory   int64 // Bytes.
}

// Totals contains the Total of each namespace. The zero value is empty. It is safe for concurrent use.
type Totals struct {
	mu          sync.Mutex
	byNamespace map[string]*Total
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
	}
	if len(total.Phases) == 0 {
		delete(t.byNamespace, namespace)
	}
}

// Reset removes all pods.
func (t *Totals) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byNamespace = nil
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
