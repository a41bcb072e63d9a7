package cause_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
)

// An event can name many keys. The rule must compile a regular expression for only few of them.
func TestManySkippedKeysCompileFewExpressions(t *testing.T) {
	const count = 10_000
	var others strings.Builder
	for n := range count {
		fmt.Fprintf(&others, ", key.%d", n)
	}
	for _, test := range []struct {
		name, keys     string
		maxAllocations float64
	}{
		{"keys that are not in the error", others.String(), count},
		{"key within a longer word of the error", strings.Repeat(", DS_ENDPOINT", 10*count), 10 * count},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _ := load(t, "testdata/pod-environment-key-skipped.yaml")
			event := c.objects[graph.NewID(graph.Kind{Kind: "Event"}, "shop", "longer-name.1")]
			event.text = bytes.Replace(event.text, []byte("] from"), []byte(test.keys+"] from"), 1)
			pod := c.Find(graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "longer-name"))
			if got := testing.AllocsPerRun(1, func() { cause.Of(c, pod) }); got > test.maxAllocations {
				t.Errorf("got %g allocations, want at most %g", got, test.maxAllocations)
			}
		})
	}
}
