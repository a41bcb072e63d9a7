package watch_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// If the program loses the permission to list namespaces, the namespaces known so far stay watched while access reviews
// permit this. A deleted namespace is dropped when an access review denies access to it.
// Invariant: I20.
func TestKnownNamespacesSurviveRevokedList(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusUnauthorized} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`})
				server.Set(widgets, apitest.Item{Namespace: "a", Name: "w"})
				server.Refuse(widgets, "", http.StatusForbidden, "not all of them")
				server.Refuse(widgets, "a", 0, "not all of them")
				server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
				allowOnly(server, "a", "b", "c")
				r := subscribe(t, cluster, query.Query{}, "")
				r.settle()
				for _, duration := range []time.Duration{3 * time.Second, 10 * time.Minute} {
					server.Refuse(namespaces, "", status, "not now")
					<-time.After(duration)
					if duration == 3*time.Second {
						server.Refuse(namespaces, "", 0, "")
						<-time.After(time.Minute)
					}
					r.wantSettle("")
				}
				server.Set(pods, pod("a", "p", "Failed"))
				r.wantSettle("update a/p")
				later := subscribe(t, cluster, query.Query{Resource: widgets}, "")
				later.settle()
				later.wantLive(1)

				server.Delete(pods, "b", "q")
				server.Delete(namespaces, "", "b")
				server.Refuse(pods, "b", http.StatusForbidden, "not all of them")
				server.Set(namespaces, apitest.Item{Name: "c"})
				server.Set(pods, pod("c", "r", "Running"))
				<-time.After(time.Minute)
				r.settle()
				r.wantRows("a/p=Failed")
				r.wantLive(1)
				server.Refuse(namespaces, "", 0, "")
				<-time.After(time.Minute)
				r.settle()
				r.wantRows("a/p=Failed", "c/r=Running")
			})
		})
	}
}

// If the list of namespaces no longer fits into the memory budget, the namespaces known so far stay watched.
// Invariant: I20.
func TestKnownNamespacesSurviveOversizedList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a", "b")
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		for n := range 40 {
			server.Set(namespaces, bigItem("", fmt.Sprint("n", n), 40<<10))
		}
		<-time.After(time.Minute)
		if state := cluster.WatchStatus().Entries[0].State; state != status.Failed {
			t.Errorf("namespaces: got state %s, want failed", state)
		}
		r.wantSettle("")
		r.wantLive(2)
	})
}

type slowCloseBody struct{ io.ReadCloser }

func (s slowCloseBody) Close() error {
	<-time.After(time.Second)
	return s.ReadCloser.Close()
}

// While watches are replaced because of a new permission, a read returns either the old or the new rows, always with
// the matching status, and never an error.
// Invariant: I20.
func TestSwappedFeedsShowNoGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		names := []string{"a", "b", "c", "d"}
		for _, ns := range names {
			server.Set(namespaces, apitest.Item{Name: ns})
			server.Set(pods, pod(ns, "p", "Running"))
		}
		allowOnly(server, names...)
		server.Config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
			return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
				response, err := next.RoundTrip(r)
				if err == nil && r.URL.Query().Get("watch") != "" {
					response.Body = slowCloseBody{response.Body}
				}
				return response, err
			})
		}
		cluster := runCluster(t, server)
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		access := cluster.For(watch.Viewer{Program: true})
		for _, covered := range []string{"", "a b c d"} {
			if covered == "" {
				server.Refuse(pods, "", 0, "")
			} else {
				server.Revoke(pods, "")
			}
			for range 400 {
				advance(50 * time.Millisecond)
				s, err := access.Snapshot(t.Context(), query.Query{Resource: pods}, 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, current := range []status.Status{s.Status, access.WatchStatus(t.Context()).Entries[1].Status} {
					if got := strings.Join(current.Namespaces, " "); current.State != status.Syncing &&
						current.State != status.Live ||
						got != "" && got != "a b c d" {
						t.Fatalf("got state %s in namespaces %q, want syncing or live in all four", current.State, got)
					}
				}
				if s.Status.State == status.Live && len(s.Objects) != 4 {
					t.Fatalf("got state live with %d rows, want 4", len(s.Objects))
				}
			}
			if r.settle(); strings.Join(r.namespaces, " ") != covered {
				t.Errorf("covered namespaces: got %q, want %q", r.namespaces, covered)
			}
			r.wantLive(4)
		}
	})
}
