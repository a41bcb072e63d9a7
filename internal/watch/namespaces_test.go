package watch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
)

// Whether a namespace exists is asked where it has no rows. An API server that
// does not answer that holds nobody up.
func TestNamespacesThatAreNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("c", "p", "Running"))
		for _, ns := range []string{"a", "b"} {
			server.Hang("/api/v1/namespaces/" + ns)
		}
		subscribe(t, cluster, watch.Query{}, "").settle()
		q := watch.Query{Resource: pods, Namespaces: []string{"a", "b"}}
		began := time.Now()
		r := subscribe(t, cluster, q, "")
		for r.next().Type != "snapshot" {
			continue
		}
		if long := time.Since(began); long > 2*time.Second {
			t.Errorf("it took %s to tell that there are no rows", long)
		}
		began = time.Now()
		snapshot, err := cluster.For(watch.Viewer{}).Snapshot(t.Context(), q, 0)
		if long := time.Since(began); err != nil || !snapshot.Synced || long > 2*time.Second {
			t.Errorf("the snapshot is %+v (%v), after %s", snapshot, err, long)
		}
	})
}
