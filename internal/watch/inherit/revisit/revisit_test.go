package revisit_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

type newObject struct{ created time.Time }

func (newObject) Verdict() verdict.Packed { return nil }
func (newObject) UID() string             { return "" }
func (o newObject) Created() time.Time    { return o.created }
func (newObject) JSON() ([]byte, error)   { return []byte("{}"), nil }

// A new Service is evaluated once more when it is old enough. Other objects are not.
func TestRevisits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r revisit.Tracker
		var marked atomic.Int64
		mark := func(...graph.ID) { marked.Add(1) }
		service := graph.NewID(graph.Kind{Kind: "Service"}, "a", "db")
		n := neighbor.Neighbor{ID: service, Object: newObject{time.Now()}}
		r.Schedule(&n, mark)
		r.Schedule(&n, mark)
		r.Schedule(&neighbor.Neighbor{ID: service, Object: newObject{time.Now().Add(-time.Hour)}}, mark)
		r.Schedule(&neighbor.Neighbor{ID: service}, mark)
		pod := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "p")
		r.Schedule(&neighbor.Neighbor{ID: pod, Object: newObject{time.Now()}}, mark)
		<-time.After(subject.SettleTime - time.Second)
		if n := marked.Load(); n != 0 {
			t.Errorf("got %d evaluations too early", n)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if n := marked.Load(); n != 1 {
			t.Errorf("got %d evaluations, want 1", n)
		}
	})
}
