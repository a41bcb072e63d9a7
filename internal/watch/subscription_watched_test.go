package watch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// Query.Watched uses a running watch, but neither starts nor prolongs one. The subscription ends with the watch.
// Invariant: I43.
func TestWatchedQueryStartsNoWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Pending"))
		q := query.Query{Resource: pods, Watched: true}
		_, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), q, stream.Changes, "")
		wantProblem(t, err, status.Unavailable, "Not watched", "Pods have no readers")

		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		requests := len(server.Requests("/pods?"))
		f := subscribeChanges(t, cluster, q, "")
		f.wantSettle("snapshot")
		server.Set(pods, pod("a", "p", "Running"))
		f.wantSettle("update a/p")
		if got := server.Requests("/pods?"); len(got) != requests || requests == 0 {
			t.Errorf("reader of watched resources: got upstream requests %s, want none", got[requests:])
		}

		r.sub.Close()
		closed := time.Now()
		// Without readers, the watch must end after 5 minutes. The limit of one hour only prevents an endless loop.
		for err = nil; err == nil && time.Since(closed) < time.Hour; {
			_, err = f.sub.Next(t.Context())
		}
		wantProblem(t, err, status.Unavailable, "Not watched", "Pods have no readers")
		if took := time.Since(closed); took != 5*time.Minute {
			t.Errorf("reader ended after %s, want 5 minutes, the linger time", took)
		}
		search, _ := search(t, cluster, "p")
		if search != "" {
			t.Errorf("Search in a resource that is no longer watched: got %q, want none", search)
		}
	})
}

// Invariant: I43.
func TestWatchedQueryRequestsNoNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a", "b")
		// Without the permission to list namespaces, only the namespaces that queries name are watched.
		server.Revoke("core/v1/namespaces", "")
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, "")
		r.settle()
		f := subscribeChanges(t, cluster, query.Query{Namespaces: []string{"b"}, Watched: true}, "")
		f.wantSettle("")
		if got := server.Requests("/namespaces/b/pods"); len(got) != 0 {
			t.Errorf("reader of an unwatched namespace: got upstream requests %s, want none", got)
		}
	})
}
