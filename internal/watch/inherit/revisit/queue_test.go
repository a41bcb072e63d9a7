package revisit_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
)

func TestQueueIsEmptyAfterEvaluation(t *testing.T) {
	id := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "web")
	q := revisit.NewQueue()
	requested := func() bool {
		select {
		case <-q.Requests():
			return true
		default:
			return false
		}
	}
	if q.Mark(); requested() || !q.IsEmpty() {
		t.Error("a call without objects has an effect")
	}
	q.Mark(id)
	q.Mark(id)
	if q.IsEmpty() || !requested() || requested() {
		t.Error("want one object and one request")
	}
	if batch := q.Take(); len(batch) != 1 || q.IsEmpty() {
		t.Errorf("during an evaluation: got %v, want one object, and a queue that is not empty", batch)
	}
	q.Mark(id)
	if q.Done(); q.IsEmpty() {
		t.Error("an object that was marked during the evaluation is lost")
	}
	if q.Clear(); !q.IsEmpty() {
		t.Error("the queue is not empty")
	}
	if q.Wake(); !requested() == q.IsEmpty() {
		t.Error("want a request without objects")
	}
}
