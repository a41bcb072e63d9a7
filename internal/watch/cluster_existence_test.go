package watch_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// If a named namespace has no objects, the program checks whether the namespace exists. Readers wait at most 2 s for
// this check.
func TestHangingNamespaceChecksDelayNoReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("c", "p", "Running"))
		for _, ns := range []string{"a", "b"} {
			server.Hang("/api/v1/namespaces/" + ns)
		}
		subscribe(t, cluster, query.Query{}, "").settle()
		q := query.Query{Resource: pods, Namespaces: []string{"a", "b"}}
		began := time.Now()
		r := subscribe(t, cluster, q, "")
		for r.next().Type != "snapshot" {
			continue
		}
		if passed := time.Since(began); passed > 2*time.Second {
			t.Errorf("empty snapshot: sent after %s, want at most 2 s", passed)
		}
		began = time.Now()
		snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(), q, 0)
		if passed := time.Since(began); err != nil || !snapshot.Synced || passed > 2*time.Second {
			t.Errorf("Snapshot: got %+v (error %v) after %s, want a synced one within 2 s", snapshot, err, passed)
		}
	})
}

func TestNamespacesAreCheckedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		server.Set(namespaces, apitest.Item{Name: "a"})
		server.Config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
			return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/namespaces/a") {
					select {
					case <-time.After(time.Second):
					case <-r.Context().Done():
						return nil, r.Context().Err()
					}
				}
				return next.RoundTrip(r)
			})
		}
		cluster := runCluster(t, server)
		subscribe(t, cluster, query.Query{}, "").settle()
		read := func(ctx context.Context, ns string) error {
			_, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
				ctx, query.Query{Resource: pods, Namespaces: []string{ns}}, 0,
			)
			return err
		}
		checks := func() int { return len(server.Requests("/namespaces/a")) }
		canceled, cancel := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		readers.Go(func() { _ = read(canceled, "a") })
		synctest.Wait()
		for range 100 {
			readers.Go(func() {
				if err := read(t.Context(), "a"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		cancel()
		readers.Wait()
		if n := checks(); n != 1 {
			t.Errorf("101 readers: got %d requests, want 1", n)
		}
		advance(time.Second)
		if err := read(t.Context(), "a"); err != nil || checks() != 1 {
			t.Errorf("reader after 1 s: got another request or error %v, want a cached result", err)
		}
		advance(4 * time.Second)
		if err := read(t.Context(), "a"); err != nil || checks() != 2 {
			t.Errorf("reader after 5 s: got %d more requests (error %v), want 1", checks()-1, err)
		}
		const others = 1500
		for n := range 2 * others { // Read each name twice. The second time, start with the name that was read last.
			name := fmt.Sprint("none-", min(n, 2*others-1-n))
			wantProblem(t, read(t.Context(), name), status.Unknown, "Unknown namespace", name)
		}
		if cached := 2*others - len(server.Requests("/namespaces/none-")); cached == 0 || cached > 1000 {
			t.Errorf("results for %d namespaces were cached, want more than 0 and at most 1000", cached)
		}
	})
}
