package watch_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// newEstimatedCluster returns a Cluster that watches 30 namespaces separately. The function respond responds to size
// probes (requests for a list's first page).
func newEstimatedCluster(
	t *testing.T, respond func(*http.Request, http.RoundTripper) (*http.Response, error),
) *watch.Cluster {
	t.Helper()
	server := apitest.New(t, kinds()...)
	var names []string
	for n := range 30 {
		ns := fmt.Sprintf("team-%02d", n)
		names = append(names, ns)
		server.Set(namespaces, apitest.Item{Name: ns})
		server.Set(pods, pod(ns, "p", "Running"))
	}
	allowOnly(server, names...)
	server.Config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.RawQuery, "limit=64") && strings.HasSuffix(r.URL.Path, "/pods") {
				return respond(r, next)
			}
			return next.RoundTrip(r)
		})
	}
	return runClusterWith(t, server, watch.Options{
		Linger: 5 * time.Minute, MemoryLimit: 100 << 20, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
}

// At most 4 size probes (requests for the first page of a list) run at a time. If one gets no response, other
// namespaces are not delayed.
// Invariant: I21.
func TestNamespacesAreProbedConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inFlight, maxInFlight atomic.Int32
		cluster := newEstimatedCluster(t, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			maxInFlight.Store(max(maxInFlight.Load(), inFlight.Add(1)))
			defer inFlight.Add(-1)
			if strings.Contains(r.URL.Path, "team-00") {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			<-time.After(800 * time.Millisecond)
			return next.RoundTrip(r)
		})
		r := subscribe(t, cluster, query.Query{}, "")
		began := time.Now()
		for len(r.rows) < 29 || r.state != "live" {
			if m := r.next(); m.State == "forbidden" || m.State == "failed" {
				t.Errorf("got state %s: %s", m.State, m.Reason)
			}
		}
		if passed := time.Since(began); passed > 9*time.Second || maxInFlight.Load() != 4 {
			t.Errorf("all namespaces but one: live after %s with %d concurrent estimates; want 8 s and 4",
				passed, maxInFlight.Load())
		}
		if slices.Contains(r.namespaces, "team-00") {
			t.Error("namespace without a response is covered")
		}
		advance(time.Minute)
		r.settle()
		r.wantLive(30)
	})
}

// If the size probe (a request for the first page of a list) fails, the list starts without an estimate. It is canceled
// when it exceeds the memory budget.
// Invariant: I21.
func TestListWithoutEstimateIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedClusterWith(t, func(r *http.Request) bool {
			return strings.Contains(r.URL.RawQuery, "limit=64")
		})
		for n := range 300 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 8<<10))
		}
		server.Set(pods, pod("a", "p", "Running"))
		small := subscribe(t, cluster, query.Query{}, "")
		small.settle()
		small.wantLive(1)
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		r.settle()
		if r.state != "failed" || !strings.Contains(r.reason, "more objects can follow") || len(r.rows) > 0 {
			t.Errorf("got state %s with %d rows: %s, want failed because more objects can follow",
				r.state, len(r.rows), r.reason)
		}
		if status := cluster.WatchStatus(); status.UsedBytes > status.Limit/2 {
			t.Errorf("got %d bytes in use, want at most half of %d", status.UsedBytes, status.Limit)
		}
		small.settle()
		small.wantLive(1)
	})
}

// Objects that are already watched stay visible while permissions change, and their namespace needs no new size probe
// (a request for the first page of its list).
// Invariant: I21.
func TestWatchedObjectsNeedNoProbe(t *testing.T) {
	for _, name := range []string{"list hangs", "list ends", "allowed from the start"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := newBudgetedClusterWith(t, func(r *http.Request) bool {
					if strings.Contains(r.URL.RawQuery, "limit=64") && strings.Contains(r.URL.Path, "/namespaces/") {
						<-time.After(3 * time.Second)
					}
					return false
				})
				if name != "allowed from the start" {
					server.Refuse(widgets, "", http.StatusForbidden, "not all of them")
				}
				server.Refuse(widgets, "a", 0, "")
				server.Set(widgets, bigItem("a", "w", 1<<10))
				r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
				advance(10 * time.Second)
				r.settle()
				r.wantLive(1)
				if name == "list hangs" {
					server.Hang("/apis/example.com/v1/widgets")
				}
				server.Refuse(widgets, "", 0, "")
				for second := range 80 {
					if second == 40 {
						server.Revoke(widgets, "")
					}
					advance(time.Second)
					c := cluster.WatchStatus()
					if n := c.Entries[len(c.Entries)-1].Objects; n != 1 {
						t.Fatalf("got %d objects after %d s, want 1", n, second)
					}
				}
				r.settle()
				r.wantLive(1)
			})
		})
	}
}
