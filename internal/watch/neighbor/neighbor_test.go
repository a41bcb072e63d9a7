package neighbor_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

func TestObjectConvertsBackToItsID(t *testing.T) {
	for resource, id := range map[string]graph.ID{
		"core/v1/pods":        graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "web-1"),
		"core/v1/nodes":       graph.NewID(graph.Kind{Kind: "Node"}, "", "one"),
		"apps/v1/deployments": graph.NewID(graph.Kind{Group: "apps", Kind: "Deployment"}, "shop", "web"),
		"batch/v1/jobs":       graph.NewID(graph.Kind{Group: "batch", Kind: "Job"}, "shop", "migrate"),
	} {
		t.Run(resource, func(t *testing.T) {
			object := neighbor.ObjectOf(&neighbor.Neighbor{ID: id, Resource: resource})
			if got := neighbor.IDOf(&object); got != id {
				t.Errorf("got %v, want %v", got, id)
			}
		})
	}
}

func TestEventTimePrefersLastOccurrence(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	e := corev1.Event{}
	set := func(minute int, set func(time.Time)) {
		t.Helper()
		set(at(minute))
		if got := neighbor.EventTime(&e); !got.Equal(at(minute)) {
			t.Errorf("got %s, want %s", got, at(minute))
		}
	}
	set(5, func(at time.Time) { e.CreationTimestamp = metav1.NewTime(at) })
	set(4, func(at time.Time) { e.FirstTimestamp = metav1.NewTime(at) })
	set(3, func(at time.Time) { e.EventTime = metav1.NewMicroTime(at) })
	set(2, func(at time.Time) { e.LastTimestamp = metav1.NewTime(at) })
	set(1, func(at time.Time) { e.Series = &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(at)} })
}
