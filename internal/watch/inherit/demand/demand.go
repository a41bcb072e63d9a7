// Package demand reads the phase and the resource requests (CPU and memory) in the JSON text of a pod.
package demand

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Usage contains the phase and the resource requests of a pod.
type Usage struct {
	Phase            string
	MilliCPU, Memory int64 // Memory is in bytes.
}

// Of returns the phase and the requests of a pod. As in the scheduler, the requests are the overhead plus the
// larger of two values: the sum of the containers and sidecars, and the largest init container.
func Of(text []byte) (u Usage) {
	c := jsonscan.NewCursor(text)
	_ = c.Object(func(key []byte) error {
		switch string(key) {
		case "spec":
			return u.readSpec(c)
		case "status":
			return c.Object(func(key []byte) (err error) {
				if string(key) == "phase" {
					u.Phase, err = c.Text()
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

func (u *Usage) readSpec(c *jsonscan.Cursor) error {
	var largest, sidecars, overhead requests
	err := c.Object(func(key []byte) error {
		switch string(key) {
		case "containers", "initContainers":
			isInit := string(key) == "initContainers"
			return c.Array(func(int) error {
				r, err := readContainer(c)
				switch {
				case !isInit:
					u.MilliCPU += r.milliCPU
					u.Memory += r.memory
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
	u.MilliCPU = max(u.MilliCPU+sidecars.milliCPU, largest.milliCPU) + overhead.milliCPU
	u.Memory = max(u.Memory+sidecars.memory, largest.memory) + overhead.memory
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
