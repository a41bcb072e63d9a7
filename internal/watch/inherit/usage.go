package inherit

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
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

func (u *usages) add(namespace string, p *podUsage, sign int) {
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
	if total.Phases[p.phase] += sign; total.Phases[p.phase] == 0 {
		delete(total.Phases, p.phase)
	}
	if p.phase != "Succeeded" && p.phase != "Failed" {
		total.MilliCPU += int64(sign) * p.milliCPU
		total.Memory += int64(sign) * p.memory
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

type podUsage struct {
	phase            string
	milliCPU, memory int64
}

// usageOf returns the phase and the requests of a pod. As in the scheduler, the requests are the overhead plus the
// larger of two values: the sum of the containers and sidecars, and the largest init container.
func usageOf(text []byte) (u podUsage) {
	c := jsonscan.NewCursor(text)
	_ = c.Object(func(key []byte) error {
		switch string(key) {
		case "spec":
			return u.readSpec(c)
		case "status":
			return c.Object(func(key []byte) (err error) {
				if string(key) == "phase" {
					u.phase, err = c.Text()
				}
				return err
			})
		}
		return nil
	})
	return u
}

type requests struct {
	milliCPU, memory int64
	isSidecar        bool
}

func (u *podUsage) readSpec(c *jsonscan.Cursor) error {
	var largest, sidecars, overhead requests
	err := c.Object(func(key []byte) error {
		switch string(key) {
		case "containers", "initContainers":
			isInit := string(key) == "initContainers"
			return c.Array(func(int) error {
				r, err := readContainer(c)
				switch {
				case !isInit:
					u.milliCPU += r.milliCPU
					u.memory += r.memory
				case r.isSidecar:
					sidecars.milliCPU += r.milliCPU
					sidecars.memory += r.memory
				default: // An init container runs together with the sidecars before it.
					largest.milliCPU = max(largest.milliCPU, r.milliCPU+sidecars.milliCPU)
					largest.memory = max(largest.memory, r.memory+sidecars.memory)
				}
				return err
			})
		case "overhead":
			return overhead.read(c)
		}
		return nil
	})
	u.milliCPU = max(u.milliCPU+sidecars.milliCPU, largest.milliCPU) + overhead.milliCPU
	u.memory = max(u.memory+sidecars.memory, largest.memory) + overhead.memory
	return err
}

func readContainer(c *jsonscan.Cursor) (r requests, err error) {
	err = c.Object(func(key []byte) error {
		switch string(key) {
		case "restartPolicy":
			text, err := c.Text()
			r.isSidecar = text == "Always"
			return err
		case "resources":
			return c.Object(func(key []byte) error {
				if string(key) == "requests" {
					return r.read(c)
				}
				return nil
			})
		}
		return nil
	})
	return r, err
}

func (r *requests) read(c *jsonscan.Cursor) error {
	return c.Object(func(key []byte) error {
		name := string(key)
		if name != "cpu" && name != "memory" || c.Peek() != '"' {
			return nil
		}
		text, err := c.Text()
		if err != nil {
			return err
		}
		if q, err := resource.ParseQuantity(text); err == nil {
			if name == "cpu" {
				r.milliCPU = q.MilliValue()
			} else {
				r.memory = q.Value()
			}
		}
		return nil
	})
}
