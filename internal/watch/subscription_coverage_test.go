package watch_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// newNamedOnlyCluster returns a Cluster that may not list namespaces. It can watch the pods in the namespaces a and b
// if a query names these namespaces.
func newNamedOnlyCluster(t *testing.T) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	server := apitest.New(t, kinds()...)
	server.Set(namespaces, apitest.Item{Name: "a"}, apitest.Item{Name: "b"})
	server.Refuse(namespaces, "", http.StatusForbidden, "no")
	allowOnly(server, "a", "b")
	cluster := runClusterWith(t, server, watch.Options{
		Linger: 5 * time.Minute, Ring: informer.Ring{Age: time.Hour}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	server.Set(pods, pod("a", "p", "Running"))
	subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, "").settle()
	return server, cluster
}

// If the watch of a namespace stops after some minutes without readers, a later reader of the Changes view cannot
// resume. It gets a reset, even if the namespace is empty.
// Invariant: I20.
func TestReaderResetsAfterNamespaceExpired(t *testing.T) {
	for name, empty := range map[string]bool{"with rows": false, "empty": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := newNamedOnlyCluster(t)
				if !empty {
					server.Set(pods, pod("b", "q", "Running"))
				}
				cursors := make(map[string]string)
				for _, ns := range []string{"a", "b", "a b"} {
					f := subscribeChanges(t, cluster, query.Query{Namespaces: strings.Fields(ns)}, "")
					f.wantSettle("snapshot")
					f.sub.Close()
					cursors[ns] = f.cursor
				}
				<-time.After(6 * time.Minute)
				server.Set(pods, pod("b", "r", "Running"))
				server.Delete(pods, "b", "r")
				<-time.After(time.Minute)
				for ns, cursor := range cursors {
					f := subscribeChanges(t, cluster, query.Query{Namespaces: strings.Fields(ns)}, cursor)
					if got := f.settle(); strings.HasPrefix(got, "reset, snapshot") != (ns != "a") {
						t.Errorf("resume in namespaces %s: got %q, want a reset unless only in a", ns, got)
					}
				}
				f := subscribeChanges(t, cluster, query.Query{Namespaces: []string{"b"}}, "")
				f.settle()
				server.Set(pods, pod("b", "s", "Running"))
				subscribeChanges(t, cluster, query.Query{Namespaces: []string{"b"}}, f.cursor).wantSettle("add b/s")
			})
		})
	}
}

// If a reader resumes while its watch is being stopped, it either restarts from a snapshot or gets all changes.
// Invariant: I20.
func TestResumeWhileNamespaceExpires(t *testing.T) {
	for wait := range 20 {
		t.Run(fmt.Sprintf("wait %d s", wait), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := newNamedOnlyCluster(t)
				f := subscribeChanges(t, cluster, query.Query{Namespaces: []string{"b"}}, "")
				f.wantSettle("snapshot")
				f.sub.Close()
				server.Hang(apitest.SelfReviewsPath) // Delay the reconciler, which stops unused watches.
				<-time.After(5*time.Minute + time.Duration(wait)*time.Second)
				f = subscribeChanges(t, cluster, query.Query{Namespaces: []string{"b"}}, f.cursor)
				var want []string
				for n := range 100 {
					name := fmt.Sprint("p", n)
					server.Set(pods, pod("b", name, "Running"))
					server.Delete(pods, "b", name)
					want = append(want, "add b/"+name, "delete b/"+name)
					<-time.After(100 * time.Millisecond)
				}
				if got := f.settle(); !strings.Contains(got, "reset, snapshot") && got != strings.Join(want, ", ") {
					t.Errorf("got neither the changes nor a reset: %.300s", got)
				}
			})
		})
	}
}

// Invariant: I20.
func TestSwappedFeedsResetNoReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "r", "Running"))
		server.RevokeWatch(pods)
		allowOnly(server, "a")
		all, single := subscribeChanges(t, cluster, query.Query{}, ""),
			subscribeChanges(t, cluster, query.Query{Namespaces: []string{"a"}}, "")
		all.wantSettle("snapshot")
		single.wantSettle("snapshot")
		before, after := []string{all.cursor, single.cursor}, "add a/n"
		lists := func() int { return cluster.WatchStatus().Entries[1].Lists }
		// Wait for a list of the pods. The next one is 30 s later, so an access review (every 10 s) is sent before it.
		for before := lists(); lists() == before; {
			advance(time.Second)
		}
		server.Set(pods, pod("a", "n", "Running"), pod("b", "s", "Running"))
		server.Refuse(pods, "", 0, "")
		advance(time.Minute)
		all.wantSettle(after)
		single.wantSettle(after)
		server.RefuseWatches(pods, 0)
		advance(time.Minute)
		subscribeChanges(t, cluster, query.Query{}, before[0]).wantSettle(after)
		subscribeChanges(t, cluster, query.Query{Namespaces: []string{"a"}}, before[1]).wantSettle(after)
	})
}

// If the program gets permission for another namespace, the rows of this namespace are sent as added, without a reset.
func TestNewPermissionResetsNoReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		allowOnly(server, "a")
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.wantSettle("snapshot")
		server.Refuse(pods, "b", 0, "")
		advance(time.Minute)
		server.Set(pods, pod("b", "q", "Running"))
		subscribeChanges(t, cluster, query.Query{}, f.cursor).wantSettle("add b/q")
	})
}

// Invariant: I20.
func TestRecreatedNamespaceResetsReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(namespaces, apitest.Item{Name: "ci"})
		server.Set(pods, pod("a", "p", "Running"), pod("ci", "q", "Running"))
		allowOnly(server, "a", "ci")
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.wantSettle("snapshot")
		server.Delete(namespaces, "", "ci")
		advance(time.Minute)
		server.Set(pods, pod("a", "p", "Failed"))
		subscribeChanges(t, cluster, query.Query{}, f.cursor).wantSettle("update a/p")
		server.Set(namespaces, apitest.Item{Name: "ci"})
		advance(time.Minute)
		if got := subscribeChanges(t, cluster, query.Query{}, f.cursor).settle(); !strings.HasPrefix(got, "reset, snapshot") {
			t.Errorf("resume after a gap: got %q, want a reset", got)
		}
	})
}

// A new feed (list and watch) must not replace objects by older versions from an API server's outdated cache.
// Invariant: I20.
func TestSwappedFeedsListNoOlderRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		server.Set(namespaces, apitest.Item{Name: "a"})
		server.Set(pods, pod("a", "p", "Pending")) // This change gets resourceVersion 102.
		server.HangStreamingLists(pods)            // Without streaming lists, the program uses plain lists.
		server.Config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
			return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
				response, err := next.RoundTrip(r)
				// Simulate an API server that responds to lists of any version (resourceVersion=0) from an outdated
				// cache.
				if err == nil && r.URL.Path == "/api/v1/pods" && r.URL.Query().Get("resourceVersion") == "0" &&
					r.URL.Query().Get("watch") == "" {
					text, _ := io.ReadAll(response.Body)
					old := strings.NewReplacer(
						`"resourceVersion":"103"`, `"resourceVersion":"102"`, "Running", "Pending",
					).Replace(string(text))
					response.Body = io.NopCloser(strings.NewReader(old))
				}
				return response, err
			})
		}
		allowOnly(server, "a")
		cluster := runClusterWith(t, server, watch.Options{Linger: time.Minute, Log: slog.New(slog.DiscardHandler)})
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.settle()
		f.settle()
		server.Set(pods, pod("a", "p", "Running")) // This change gets resourceVersion 103.
		f.settle()
		server.Refuse(pods, "", 0, "")
		<-time.After(2 * time.Minute)
		if log := f.settle(); strings.Contains(log, "update") {
			t.Errorf("without a change: got %s, want no update", log)
		}
	})
}
