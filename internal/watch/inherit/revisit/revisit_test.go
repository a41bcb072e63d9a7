package revisit_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
)

// Each object is evaluated once, at the time of the last call of Schedule. A canceled object is not evaluated.
func TestEachObjectIsRevisitedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r revisit.Tracker
		var mu sync.Mutex
		var all []string
		mark := func(ids ...graph.ID) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, ids[0].Name())
		}
		marked := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		id := func(name string) graph.ID { return graph.NewID(graph.Kind{Kind: "Service"}, "a", name) }
		start := time.Now()
		at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
		r.Schedule(id("once"), at(10), mark)
		r.Schedule(id("later"), at(10), mark)
		r.Schedule(id("later"), at(20), mark)
		r.Schedule(id("earlier"), at(30), mark)
		r.Schedule(id("earlier"), at(5), mark)
		r.Schedule(id("never"), at(10), mark)
		r.Schedule(id("never"), time.Time{}, mark)
		r.Schedule(id("deleted"), at(10), mark)
		r.Cancel(id("deleted"))
		for minutes, want := range [][]string{
			4: {}, 6: {"earlier"}, 9: {"earlier"}, 11: {"earlier", "once"}, 19: {"earlier", "once"},
			21: {"earlier", "once", "later"}, 40: {"earlier", "once", "later"},
		} {
			if want == nil {
				continue
			}
			<-time.After(time.Until(at(minutes)))
			synctest.Wait()
			if got := marked(); !slices.Equal(got, want) {
				t.Errorf("after %d minutes: got %q, want %q", minutes, got, want)
			}
		}
		r.Schedule(id("once"), at(50), mark)
		r.Reset()
		<-time.After(time.Hour)
		if got := marked(); len(got) != 3 {
			t.Errorf("after a reset: got %q", got)
		}
	})
}
