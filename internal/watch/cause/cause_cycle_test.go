package cause_test

import (
	"path/filepath"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// The verdicts become stable even if each step evaluates all objects against the results of the previous step, as the
// engine does in a batch. Otherwise, objects that fail because of each other could swap their causes forever.
func TestSimultaneousEvaluationsSettle(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		c, _ := load(t, file)
		const maxSteps = 10
		for step := 0; c.step(); step++ {
			if step == maxSteps {
				t.Fatalf("%s: the verdicts do not settle", file)
			}
		}
	}
}

// step evaluates all objects, and then applies all results. It reports whether a verdict has changed.
func (c *cluster) step() (changed bool) {
	results := make(map[graph.ID]verdict.Packed, len(c.order))
	for _, id := range c.order {
		results[id] = c.objects[id].verdict.Own()
		if v := cause.Of(c, c.Find(id)); v != nil {
			results[id] = verdict.Inherit(results[id], v)
		}
	}
	for id, next := range results {
		changed = changed || !next.Same(c.objects[id].verdict)
		c.objects[id].verdict = next
	}
	return changed
}

// A Service without pods does not explain the workload that should create them, even if the program reads the Service
// first.
func TestServiceWithoutPodsDoesNotExplainItsWorkload(t *testing.T) {
	c, _ := load(t, "testdata/service-of-broken-workload.yaml")
	service := c.objects[graph.NewID(graph.Kind{Kind: "Service"}, "shop", "web")]
	service.verdict = verdict.Inherit(service.verdict.Own(), &verdict.Verdict{Severity: verdict.Failed, Reason: "NoPods"})
	c.evaluate(t)
	rollout := c.objects[graph.NewID(graph.Kind{Group: "argoproj.io", Kind: "Rollout"}, "shop", "web")].verdict
	if v := rollout.Unpack(); v.Cause != nil || v.Via != nil {
		t.Errorf("Rollout: got %s", describe(v))
	}
	if v := service.verdict.Unpack(); v.Cause == nil || v.Cause.Kind != "Rollout" {
		t.Errorf("Service: got %s", describe(v))
	}
}
