package inherit

import (
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/demand"
)

// Usage is what the pods of a namespace request. Pods that have ended request nothing.
type Usage struct {
	Phases   map[string]int // The number of pods by phase.
	MilliCPU int64
	Memory   int64 // Bytes.
}

// usages contains the Usage of each namespace.
type usages struct {
	mu          sync.Mutex
	byNamespace map[string]*Usage
}

func (u *usages) add(namespace string, p *demand.Usage, sign int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byNamespace == nil {
		u.byNamespace = make(map[string]*Usage)
	}
	total := u.byNamespace[namespace]
	if total == nil {
		total = &Usage{Phases: make(map[string]int)}
		u.byNamespace[namespace] = total
	}
	if total.Phases[p.Phase] += sign; total.Phases[p.Phase] == 0 {
		delete(total.Phases, p.Phase)
	}
	if p.Phase != "Succeeded" && p.Phase != "Failed" {
		total.MilliCPU += int64(sign) * p.MilliCPU
		total.Memory += int64(sign) * p.Memory
	}
	if len(total.Phases) == 0 {
		delete(u.byNamespace, namespace)
	}
}

func (u *usages) reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.byNamespace = nil
}

// Usage returns the sum of all namespaces for which include returns true.
func (e *Engine) Usage(include func(namespace string) bool) Usage {
	e.usages.mu.Lock()
	defer e.usages.mu.Unlock()
	sum := Usage{Phases: make(map[string]int)}
	for namespace, u := range e.usages.byNamespace {
		if !include(namespace) {
			continue
		}
		for phase, count := range u.Phases {
			sum.Phases[phase] += count
		}
		sum.MilliCPU += u.MilliCPU
		sum.Memory += u.Memory
	}
	return sum
}
