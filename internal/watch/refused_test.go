package watch_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
)

// A namespace that the API server does not find, as some aggregated APIs answer
// for one that they do not know, is none of the others'.
func TestNamespaceThatIsNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a")
		a := subscribe(t, cluster, watch.Query{Namespaces: []string{"a"}}, "")
		a.settle()
		all := subscribe(t, cluster, watch.Query{}, "")
		all.settle()
		server.Refuse(pods, "b", http.StatusNotFound, "no such namespace")
		<-time.After(40 * time.Second) // It is allowed now, as a review says.
		if got := a.settle(); got != "" && got != "state live" {
			t.Errorf("who looks at a is told %s", got)
		}
		a.wantLive(1)
		for range 8 {
			a.wantSettle("")
		}
		if all.settle(); all.state != "live" || len(all.rows) != 1 {
			t.Errorf("all is %s with %d rows, want live with 1", all.state, len(all.rows))
		}
		b := subscribe(t, cluster, watch.Query{Namespaces: []string{"b"}}, "")
		if b.settle(); b.state != "absent" || b.reason != "no such namespace" {
			t.Errorf("b is %s: %s, want absent with the API server's reason", b.state, b.reason)
		}
		all.log = nil
		for range 8 {
			all.wantSettle("")
		}
		server.Refuse(pods, "b", 0, "")
		<-time.After(time.Minute)
		b.settle()
		b.wantLive(1)
	})
}
