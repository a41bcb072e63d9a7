package revisit_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
)

// The first call has an effect at once. Further calls have one effect together, at the end of the interval.
func TestLimiterCombinesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l revisit.Limiter
		var marked atomic.Int64
		pods := revisit.AllOf(graph.Kind{Kind: "Pod"}, "a")
		other := revisit.AllOf(graph.Kind{Kind: "Pod"}, "b")
		do := func(all graph.ID) { l.Do(all, func() { marked.Add(1) }) }
		want := func(what string, count int64) {
			t.Helper()
			synctest.Wait()
			if got := marked.Load(); got != count {
				t.Errorf("%s: got %d calls, want %d", what, got, count)
			}
		}
		do(pods)
		want("the first change", 1)
		do(pods)
		do(pods)
		want("changes in the interval", 1)
		do(other)
		want("another namespace", 2)
		<-time.After(revisit.Interval + time.Second)
		want("the end of the interval", 3)
		do(pods)
		want("a change in the second interval", 3)
		<-time.After(revisit.Interval)
		want("the end of the second interval", 4)
		<-time.After(2 * revisit.Interval)
		want("intervals without changes", 4)
		do(pods)
		do(pods)
		want("a late change", 5)
		l.Reset()
		<-time.After(2 * revisit.Interval)
		want("after Reset", 5)
	})
}
