package demand_test

import (
	"fmt"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/demand"
)

// The expected values follow PodRequests of k8s.io/component-helpers/resource.
func TestDemandIsComputedLikePodRequests(t *testing.T) {
	container := func(cpu, memory, more string) string {
		const format = `{"name":"c",%s"resources":{"limits":{"cpu":"9"},"requests":{"cpu":%q,"memory":%q}}}`
		return fmt.Sprintf(format, more, cpu, memory)
	}
	both := func(first, second string) string { return first + "," + second }
	const sidecar = `"restartPolicy":"Always",`
	for name, test := range map[string]struct {
		containers, init, overhead string
		milliCPU, memory           int64
	}{
		"one container":          {container("100m", "1Ki", ""), "", "{}", 100, 1024},
		"the sum of containers":  {both(container("100m", "1Ki", ""), container("1", "1k", "")), "", "{}", 1100, 2024},
		"a large init container": {container("100m", "1Ki", ""), container("2", "10", ""), "{}", 2000, 1024},
		"the largest of several": {
			container("100m", "1", ""), both(container("1", "5", ""), container("2", "3", "")),
			"{}", 2000, 5,
		},
		"a sidecar": {container("100m", "10", ""), container("50m", "5", sidecar), "{}", 150, 15},
		"init after a sidecar": {
			container("100m", "1", ""), both(container("50m", "5", sidecar), container("1", "7", "")),
			"{}", 1050, 12,
		},
		"init before a sidecar": {
			container("100m", "1", ""), both(container("1", "7", ""), container("50m", "5", sidecar)),
			"{}", 1000, 7,
		},
		"overhead": {
			container("100m", "1", ""), container("1", "7", ""),
			`{"cpu":"10m","memory":"100"}`, 1010, 107,
		},
		"no requests":              {`{"name":"c"}`, "", "{}", 0, 0},
		"an invalid quantity":      {container("many", "1", ""), "", "{}", 0, 1},
		"fractions are rounded up": {container("100u", "1500m", ""), "", "{}", 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			got := demand.Of(fmt.Appendf(nil, `{"metadata":{"name":"p"},"spec":{"initContainers":[%s],"containers":[%s],`+
				`"overhead":%s},"status":{"phase":"Running"}}`, test.init, test.containers, test.overhead))
			if want := (demand.Usage{Phase: "Running", MilliCPU: test.milliCPU, Memory: test.memory}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
