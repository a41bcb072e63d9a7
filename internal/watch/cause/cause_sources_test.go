package cause_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// A Service repeats the sentence of its pod. Therefore, its verdict has all sources of that sentence. This is also true
// if the pod's verdict has no cause, or if its cause is the Service itself.
//
// Invariant: I18.
func TestServiceHasSourcesOfPod(t *testing.T) {
	sources := verdict.Source("admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "").
		With(verdict.Source("core/v1/services", "other"))
	for name, severity := range map[string]verdict.Severity{
		"caused by the Service": verdict.Failed, "that starts": verdict.Progressing,
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := load(t, "testdata/service-crashing.yaml")
			pod := c.objects[graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "web-1-a")]
			service := c.Find(graph.NewID(graph.Kind{Kind: "Service"}, "shop", "web"))
			v := verdict.Verdict{Severity: severity, Reason: "Waits", Sentence: "waits for hook", Sources: sources}
			if severity.IsProblem() {
				v.Cause = &verdict.Cause{Object: neighbor.ObjectOf(&service), Sentence: v.Sentence}
			}
			pod.verdict = verdict.Inherit(pod.verdict.Own(), &v)
			got := cause.Of(c, service)
			if want := sources.With(verdict.Source("core/v1/pods", "shop")); got == nil || got.Sources != want {
				t.Errorf("got %+v, want the sources %q", got, want)
			}
		})
	}
}

// An event about a volume is all that explains a pod whose server is outside the cluster. A viewer who may not read
// PersistentVolumes must see this explanation.
//
// Invariant: I18.
func TestMountFailureNeedsOnlySourcesOfItsText(t *testing.T) {
	c, _ := load(t, "testdata/pod-volume-server-stopped.yaml")
	got := cause.Of(c, c.Find(graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "outside")))
	if got == nil || got.Sources.Contains("core/v1/persistentvolumes", "") {
		t.Errorf("got %+v, want a verdict without PersistentVolumes as a source", got)
	}
}
