package watch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
)

// Who wants to be told only of what is watched starts no watch and keeps none:
// it is told for as long as another looks, and ends with that.
func TestWatchedIsNoLooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Pending"))
		q := watch.Query{Resource: pods, Watched: true}
		_, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), q, watch.Changes, "")
		wantProblem(t, err, watch.Unavailable, "Not watched", "Nobody looks at "+pods)

		r := subscribe(t, cluster, watch.Query{}, "")
		r.settle()
		looking := len(server.Requests("/pods?"))
		f := follow(t, cluster, q, "")
		f.wantSettle("snapshot")
		server.Set(pods, pod("a", "p", "Running"))
		f.wantSettle("update a/p")
		if got := server.Requests("/pods?"); len(got) != looking || looking == 0 {
			t.Errorf("following what is watched asked for %s", got[looking:])
		}

		r.sub.Close()
		closed := time.Now()
		for err = nil; err == nil && time.Since(closed) < time.Hour; { // The pods' informer lingers for 5 minutes.
			_, err = f.sub.Next(t.Context())
		}
		wantProblem(t, err, watch.Unavailable, "Not watched", "Nobody looks at "+pods)
		if took := time.Since(closed); took != 5*time.Minute {
			t.Errorf("it ended after %s, want 5 minutes, as without it", took)
		}
		search, _ := search(t, cluster, "p")
		if search != "" {
			t.Errorf("found %q in what is watched no more", search)
		}
	})
}

// Of namespaces that are watched one by one none is watched for its sake.
func TestWatchedAsksForNoNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a", "b")
		server.Revoke("core/v1/namespaces", "") // So that only those are watched that are asked for.
		r := subscribe(t, cluster, watch.Query{Namespaces: []string{"a"}}, "")
		r.settle()
		f := follow(t, cluster, watch.Query{Namespaces: []string{"b"}, Watched: true}, "")
		f.wantSettle("")
		if got := server.Requests("/namespaces/b/pods"); len(got) != 0 {
			t.Errorf("following what is not watched asked for %s", got)
		}
	})
}
