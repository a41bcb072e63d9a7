package watch_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// If namespaces are watched one by one, the watch of a namespace without readers ends after the linger time. A new
// reader starts the watch again.
// Invariant: I21.
func TestUnusedNamespacesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Refuse("core/v1/namespaces", "", http.StatusForbidden, "no")
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a", "b")
		remaining := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, "")
		remaining.settle()
		closed := subscribe(t, cluster, query.Query{Namespaces: []string{"b"}}, "")
		closed.settle()
		closed.sub.Close()
		relists := func(after time.Duration) int {
			advance(after)
			before := len(server.Requests("/namespaces/b/pods"))
			server.EndWatches(pods)
			advance(30 * time.Second)
			return len(server.Requests("/namespaces/b/pods")) - before
		}
		if relists(4*time.Minute) == 0 {
			t.Error("namespace b is not watched before its lease expires")
		}
		if n := relists(time.Minute); n > 0 {
			t.Errorf("namespace b is watched after its lease expired: got %d requests", n)
		}
		if remaining.settle(); len(remaining.rows) != 1 || remaining.state != "live" {
			t.Errorf("namespace a: got state %s with %d rows, want live with 1", remaining.state, len(remaining.rows))
		}
		back := subscribe(t, cluster, query.Query{Namespaces: []string{"b"}}, "")
		back.settle()
		back.wantLive(1)
	})
}

// If one watch covers all namespaces, the open subscriptions together can name any number of them. If each namespace
// needs its own watch, they can name at most 500.
func TestNamedNamespacesAreLimited(t *testing.T) {
	for name, all := range map[string]bool{"one watch of all namespaces": true, "one watch for each namespace": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				if !all {
					allowOnly(server, "a")
				}
				first := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, "")
				first.settle()
				open := func(n int) (*watch.Subscription, error) {
					return cluster.For(watch.Viewer{Program: true}).Subscribe(
						t.Context(), query.Query{Resource: pods, Namespaces: []string{fmt.Sprint("ns-", n)}},
						stream.Rows, "",
					)
				}
				for n := range 600 {
					sub, err := open(n)
					if err != nil {
						t.Fatalf("subscription %d: %v", n+1, err)
					}
					sub.Close()
				}
				for n := range 600 {
					sub, err := open(n)
					if err == nil {
						defer sub.Close()
					}
					switch refused := n >= 499 && !all; {
					case refused:
						wantProblem(t, err, status.Invalid, "Too many namespaces", "500 namespaces of this resource")
					case err != nil:
						t.Fatalf("concurrent subscription %d: %v", n+1, err)
					}
				}
			})
		})
	}
}

// A query with which too many namespaces would be watched is refused, and stops no watch. A query within the limit
// stops only as many unused watches as necessary, the longest unused first.
// Invariant: I20.
func TestRefusedRequestEvictsNoNamespaces(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Refuse(namespaces, "", http.StatusForbidden, "no")
		server.Refuse(pods, "", http.StatusForbidden, "no")
		var all []string
		for n := range 700 {
			all = append(all, fmt.Sprintf("ns-%03d", n))
			server.Set(pods, pod(all[n], "p", "Running"))
			server.Refuse(pods, all[n], 0, "")
		}
		subscribeNamespaces(t, cluster, all[:301])
		first, second := subscribeNamespaces(t, cluster, all[301:400]), subscribeNamespaces(t, cluster, all[400:500])
		first[0].sub.Close()
		advance(time.Second)
		second[0].sub.Close()
		want := func(when string, names []string) {
			t.Helper()
			advance(time.Minute)
			if got := cluster.WatchStatus().Entries[1].Namespaces; !slices.Equal(got, names) {
				t.Errorf("%s: got %d watched namespaces, want %d: %s", when, len(got), len(names), got)
			}
		}
		want("initially", all[:500])
		_, err := cluster.For(watch.Viewer{Program: true}).Subscribe(
			t.Context(), query.Query{Resource: pods, Namespaces: all[500:700]}, stream.Rows, "",
		)
		wantProblem(t, err, status.Invalid, "Too many namespaces", "500 namespaces of this resource")
		want("after a refused reader", all[:500])
		subscribeNamespaces(t, cluster, all[500:599])
		want("after a reader within the limit", slices.Concat(all[:301], all[400:599]))
	})
}

// subscribeNamespaces opens as many subscriptions as needed, because one query can name at most 200 namespaces.
func subscribeNamespaces(t *testing.T, cluster *watch.Cluster, names []string) (readers []*reader) {
	t.Helper()
	for part := range slices.Chunk(names, 200) {
		r := subscribe(t, cluster, query.Query{Namespaces: part}, "")
		r.settle()
		readers = append(readers, r)
	}
	return readers
}

// The number of namespaces with their own watches is limited. Readers above this limit get a status with the limit as
// the reason, and wait until other namespaces have no readers.
// Invariant: I20.
func TestNamespacesBeyondLimitWait(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Refuse(namespaces, "", http.StatusForbidden, "no")
		var all []string
		for n := range 700 {
			ns := fmt.Sprintf("ns-%03d", n)
			all = append(all, ns)
			server.Set(namespaces, apitest.Item{Name: ns})
			server.Set(pods, pod(ns, "p", "Running"))
		}
		var readers []*reader
		for part := range slices.Chunk(all, 175) {
			r := subscribe(t, cluster, query.Query{Namespaces: part}, "")
			r.settle()
			r.wantLive(175)
			readers = append(readers, r)
			advance(time.Minute)
		}
		server.Refuse(pods, "", http.StatusForbidden, "not any more")
		for _, ns := range all {
			server.Refuse(pods, ns, 0, "")
		}
		server.EndWatches(pods)
		advance(5 * time.Minute)
		covered := func() (rows []int) {
			feeds := cluster.WatchStatus().Entries[1]
			if len(feeds.Namespaces) != 500 {
				t.Errorf("got %d watched namespaces, want 500", len(feeds.Namespaces))
			}
			for _, r := range readers {
				r.settle()
				rows = append(rows, len(r.rows))
			}
			return rows
		}
		if got := fmt.Sprint(covered()); got != "[175 175 150 0]" {
			t.Errorf("got row counts %s, want those of the first 500 namespaces", got)
		}
		if last := readers[3]; last.state != "failed" || !strings.Contains(last.reason, "500 namespaces of Pods") {
			t.Errorf("last reader: got state %s: %s, want failed with a reason", last.state, last.reason)
		}
		if partial := readers[2]; partial.state != "live" || !strings.Contains(partial.reason, "500 namespaces of Pods") {
			t.Errorf("third reader: got state %s: %s, want live with a reason for the missing namespaces",
				partial.state, partial.reason)
		}
		subscribe(t, cluster, query.Query{Namespaces: all[:1]}, "").wantSettle("state live, snapshot of 1")
		readers[0].sub.Close()
		readers = readers[1:]
		advance(time.Minute)
		if got := fmt.Sprint(covered()); got != "[175 175 149]" {
			t.Errorf("got row counts %s after 174 namespaces were released, want those of the next ones", got)
		}
	})
}
