package watch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
)

// A resource that was let go of and listed again has offsets of its own: those
// of before mean nothing there, even if they exist.
func TestCursorOfAnEarlierList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		first := subscribe(t, cluster, watch.Query{}, "")
		first.settle()
		first.sub.Close()
		<-time.After(6 * time.Minute)
		server.Set(pods, pod("a", "q", "Running"))
		other := subscribe(t, cluster, watch.Query{}, "")
		other.settle()
		again := subscribe(t, cluster, watch.Query{}, first.cursor)
		if m := again.next(); m.Type != "reset" || m.Reason != "the resource was listed anew since the cursor was issued" {
			t.Errorf("got %+v, want a reset that says that it was listed anew", m)
		}
		again.settle()
		again.wantRows("a/p=Running", "a/q=Running")
	})
}
