package watch_test

import (
	"bytes"
	"fmt"
	"io"
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
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

func allowOnly(server *apitest.Server, namespaces ...string) {
	server.Refuse(pods, "", http.StatusForbidden, "not all of them")
	for _, ns := range namespaces {
		server.Refuse(pods, ns, 0, "not all of them")
	}
}

// If the program may not list pods in all namespaces at once, it watches each permitted namespace. A reader of all
// namespaces gets the pods of these namespaces in one table.
// Invariant: I20.
func TestPermittedNamespacesAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set("core/v1/namespaces", apitest.Item{Name: "c"})
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"), pod("c", "r", "Running"))
		allowOnly(server, "a", "c")
		all := subscribe(t, cluster, query.Query{}, "")
		all.settle()
		all.wantRows("a/p=Running", "c/r=Running")
		if got := strings.Join(all.namespaces, " "); all.state != "live" || got != "a c" {
			t.Errorf("got state %s in namespaces %s, want live in a c", all.state, got)
		}
		two := subscribe(t, cluster, query.Query{Namespaces: []string{"a", "b"}}, "")
		two.settle()
		two.wantRows("a/p=Running")
		if got := strings.Join(two.namespaces, " "); got != "a" {
			t.Errorf("two requested namespaces: got covered %s, want a", got)
		}
		if allowed := subscribe(t, cluster, query.Query{Namespaces: []string{"a", "c"}}, ""); allowed.settle() == "" ||
			allowed.namespaces != nil {
			t.Errorf("all requested namespaces are covered: got status for %s, want no list", allowed.namespaces)
		}
		server.Set(pods, pod("a", "p", "Failed"), pod("c", "r", "Failed"))
		two.wantSettle("update a/p")
		all.settle()
		all.wantRows("a/p=Failed", "c/r=Failed")
	})
}

// A new permission takes effect within a minute. After a permission is revoked, the rows disappear within 15 s, even if
// the API server does not end the watch.
// Invariant: I20.
func TestNamespacePermissionsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a")
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		r.wantRows("a/p=Running")

		server.Refuse(pods, "b", 0, "")
		<-time.After(time.Minute)
		r.settle()
		r.wantRows("a/p=Running", "b/q=Running")

		server.Revoke(pods, "b")
		<-time.After(15 * time.Second)
		r.settle()
		r.wantRows("a/p=Running")
		if got := strings.Join(r.namespaces, " "); r.state != "live" || got != "a" {
			t.Errorf("got state %s in namespaces %s, want live in a", r.state, got)
		}

		server.Refuse(pods, "", 0, "")
		<-time.After(time.Minute)
		r.settle()
		if r.wantRows("a/p=Running", "b/q=Running"); r.state != "live" || r.namespaces != nil {
			t.Errorf("got state %s in namespaces %s, want live in all", r.state, r.namespaces)
		}
		server.Revoke(pods, "")
		server.Revoke(pods, "a")
		<-time.After(15 * time.Second)
		r.settle()
		if r.wantRows(); r.state != "forbidden" {
			t.Errorf("got state %s, want forbidden", r.state)
		}
	})
}

// If only the permission to watch is revoked, the rows stay, and the resource is listed at intervals. The state is
// stale.
// Invariant: I20.
func TestResourceIsPolledWithoutWatchPermission(t *testing.T) {
	for name, restrict := range map[string]func(*apitest.Server){
		"all":           func(*apitest.Server) {},
		"one namespace": func(server *apitest.Server) { allowOnly(server, "a") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				restrict(server)
				server.Set(pods, pod("a", "p", "Running"))
				r := subscribe(t, cluster, query.Query{}, "")
				r.settle()
				server.RevokeWatch(pods)
				<-time.After(15 * time.Second)
				r.settle()
				if r.wantRows("a/p=Running"); r.state != "stale" || !strings.Contains(r.reason, "not watched") {
					t.Errorf("got state %s: %s, want stale because the watch is forbidden", r.state, r.reason)
				}
			})
		})
	}
}

// While a feed (list and watch) stops, its state is never live, even if it has just opened a watch.
// Invariant: I20.
func TestStoppedFeedIsNotLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		if r.settle(); r.state != "live" {
			t.Fatalf("got state %s, want live", r.state)
		}
		var states []status.State
		cluster.Informer("core/v1/pods").Faults().OnFeedStop(func(s status.State) { states = append(states, s) })
		server.RevokeWatch(pods)
		<-time.After(15 * time.Second)
		if r.settle(); len(states) == 0 || slices.Contains(states, status.Live) {
			t.Errorf("states while feeds are stopped: got %v, want syncing", states)
		}
		r.wantRows("a/p=Running")
	})
}

// If the API server refuses access reviews, the program detects its permissions by list requests. Readers get no
// messages while the permissions stay the same.
// Invariant: I20.
func TestForbiddenReviewsFallBackToLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.FailPath(apitest.SelfReviewsPath, http.StatusForbidden, "no reviews for you")
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a")
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		r.wantRows("a/p=Running")
		for since := time.Now(); time.Since(since) < 2*time.Minute; {
			r.wantSettle("")
		}
		server.Refuse(pods, "", 0, "")
		<-time.After(time.Minute)
		r.settle()
		if r.wantRows("a/p=Running", "b/q=Running"); r.state != "live" {
			t.Errorf("got state %s, want live", r.state)
		}
	})
}

func TestOneWatchForEachNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		allowOnly(server, "a")
		for range 20 {
			subscribe(t, cluster, query.Query{}, "").settle()
			subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, "").settle()
		}
		lists := slices.DeleteFunc(server.Requests("/namespaces/a/pods"), func(line string) bool {
			return !strings.Contains(line, "sendInitialEvents")
		})
		if len(lists) != 1 {
			t.Errorf("got %d lists for 40 readers, want 1", len(lists))
		}
	})
}

// The first snapshot contains the rows of all permitted namespaces, although each namespace has its own list.
// Invariant: I20.
func TestNamespacesAppearTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		var names []string
		for n := range 100 {
			ns := fmt.Sprint("team-", n)
			names = append(names, ns)
			server.Set(namespaces, apitest.Item{Name: ns})
			server.Set(pods, pod(ns, "p", "Running"))
		}
		allowOnly(server, names...)
		subscribe(t, cluster, query.Query{}, "").wantSettle("state live, snapshot of 100")
	})
}

// A reader of several namespaces gets one short status for all of them. The status names the namespaces whose rows have
// been listed.
func TestStatusOfSeveralNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		var names []string
		for n := range 30 {
			ns := fmt.Sprint("team-", n)
			names = append(names, ns)
			server.Set("core/v1/namespaces", apitest.Item{Name: ns})
			server.Set(pods, pod(ns, "p", "Running"))
		}
		allowOnly(server, names...)
		for n := range 5 {
			server.Refuse(pods, fmt.Sprint("team-", n+7), http.StatusInternalServerError, fmt.Sprint("ill since ", n))
		}
		all := subscribe(t, cluster, query.Query{}, "")
		two := subscribe(t, cluster, query.Query{Namespaces: []string{"team-1", "team-2"}}, "")
		ill := subscribe(t, cluster, query.Query{Namespaces: []string{"team-1", "team-7"}}, "")
		<-time.After(time.Minute)
		for _, r := range []*reader{all, two, ill} {
			r.settle()
		}
		if all.wantLive(25); len(all.namespaces) != 25 ||
			all.reason != "not available: team-10: ill since 4; team-11: ill since 4; team-7: ill since 4; and 2 more" {
			t.Errorf("all namespaces: got covered %s: %s; want all but five with a reason", all.namespaces, all.reason)
		}
		if ill.wantLive(1); strings.Join(ill.namespaces, " ") != "team-1" {
			t.Errorf("two requested namespaces: got covered %s, want team-1", ill.namespaces)
		}
		server.Refuse(pods, "team-2", http.StatusInternalServerError, "ill now")
		<-time.After(20 * time.Second)
		two.settle()
		if two.state != "stale" || two.namespaces != nil || len(two.rows) != 2 {
			t.Errorf(
				"got state %s in namespaces %s with %d rows, want stale in all requested ones",
				two.state, two.namespaces, len(two.rows),
			)
		}
		server.Down(true)
		<-time.After(time.Minute)
		for start, n := time.Now(), 0; time.Since(start) < 10*time.Minute; {
			if all.next().Type != "state" {
				n = 0
			} else if n++; n > 3 || len(all.reason) > 300 {
				t.Fatalf("got repeated or long states, the last with the reason %s", all.reason)
			}
		}
	})
}

func TestListsWithoutProgressSendFewMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a", "b")
		server.HangStreamingLists(pods)
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a", "b"}}, "")
		for n, start := 0, time.Now(); time.Since(start) < 10*time.Second; n++ {
			if r.next(); n > 10 {
				t.Fatalf("got %d messages of a list without progress, want at most 10", n)
			}
		}
	})
}

// During an upgrade, the API server can return different columns for different namespaces. While they differ, the state
// is never live.
func TestNamespacesWithDifferentColumns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		for _, ns := range []string{"a", "b", "c"} {
			server.Set("core/v1/namespaces", apitest.Item{Name: ns})
			server.Set(pods, pod(ns, "p", "Running"))
		}
		allowOnly(server, "a", "b", "c")
		var answers atomic.Int32
		server.Config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
			return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
				response, err := next.RoundTrip(r)
				// Change the columns in fewer than 500 responses, so that the test ends even if the program lists again without
				// a delay.
				if err == nil && strings.Contains(r.URL.Path, "/b/pods") && answers.Add(1) < 500 {
					response.Body = newerServerBody{response.Body}
				}
				return response, err
			})
		}
		cluster := runCluster(t, server)
		for range 60 {
			advance(time.Second)
			snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
				t.Context(), query.Query{Resource: pods}, 0,
			)
			if err != nil || snapshot.Status.State == status.Live && !snapshot.Synced {
				t.Fatalf("Snapshot: got %+v, error %v: live but not synced", snapshot, err)
			}
		}
		if n := len(server.Requests("/pods?")); n > 60 {
			t.Errorf("got %d lists of three namespaces in a minute, want at most 60", n)
		}
	})
}

type newerServerBody struct{ io.ReadCloser }

func (n newerServerBody) Read(text []byte) (int, error) {
	read, err := n.ReadCloser.Read(text)
	copy(text[:read], bytes.ReplaceAll(text[:read], []byte(`"name":"Status"`), []byte(`"name":"Phases"`)))
	return read, err
}

// After a permission is revoked, all rows that need it disappear, even if the history has no room for so many
// deletions.
func TestRevokedRowsExceedHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		cluster := runClusterWith(t, server, watch.Options{
			Linger: time.Minute, Ring: informer.Ring{Bytes: 64 << 10}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		})
		for n := range 1000 {
			server.Set(pods, pod("a", fmt.Sprint("p", n), "Running"))
		}
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.Revoke(pods, "")
		<-time.After(15 * time.Second)
		if r.wantSettle("state forbidden, reset, snapshot of 0"); len(r.rows) != 0 {
			t.Errorf("got %d hidden rows in the reader, want 0", len(r.rows))
		}
		server.Refuse(pods, "", 0, "")
		<-time.After(time.Minute)
		r.settle()
		r.wantLive(1000)
	})
}

// A reader of one namespace gets no message when other namespaces are created or deleted. After a permission is
// revoked, all readers restart from a snapshot.
func TestNamespacesAreCreatedAndDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set("core/v1/namespaces", apitest.Item{Name: "ci-1"})
		server.Set(pods, pod("a", "p", "Running"), pod("ci-1", "q", "Running"))
		allowOnly(server, "a", "ci-1", "ci-2")
		single, all := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, ""), subscribe(
			t, cluster, query.Query{}, "",
		)
		single.settle()
		all.settle()
		server.Delete("core/v1/namespaces", "", "ci-1")
		<-time.After(time.Minute)
		server.Set("core/v1/namespaces", apitest.Item{Name: "ci-2"})
		server.Set(pods, pod("ci-2", "q", "Running"))
		<-time.After(time.Minute)
		single.wantSettle("")
		all.wantSettle("state live, delete ci-1/q, add ci-2/q")
		server.Refuse(pods, "ci-2", http.StatusForbidden, "no more")
		server.EndWatches(pods)
		<-time.After(time.Minute)
		server.Refuse(pods, "ci-2", 0, "")
		<-time.After(time.Minute)
		all.settle()
		all.wantRows("a/p=Running", "ci-2/q=Running")
		single.wantSettle("reset, snapshot of 1")
	})
}

// For three informers, the rate of access reviews is limited. Rows still disappear within 15 s after a permission is
// revoked.
// Invariant: I20.
func TestReviewRateIsLimited(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	for name, test := range map[string]struct {
		incomplete bool
		perSecond  int
	}{
		// 50 permitted namespaces every 10 s need 5 reviews per second, for all informers together. 50 denied namespaces
		// every 30 s need 1.7 per second, for each of the 3 informers. The sum is 10, and the limit is a little higher.
		"rules":   {false, 12},
		"reviews": {true, 22}, // Each informer needs its own reviews: 3 * (5 + 1.7), about 20 per second.
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				if test.incomplete {
					server.ReportIncompleteRules()
				}
				var names []string
				for n := range 50 {
					ns := fmt.Sprint("team-", n)
					names = append(names, ns)
					server.Set(namespaces, apitest.Item{Name: ns}, apitest.Item{Name: fmt.Sprint("closed-", n)})
					server.Set(pods, pod(ns, "p", "Running"))
				}
				allowOnly(server, names...)
				var readers []*reader
				for _, fields := range []string{"", "metadata.name!=a", "metadata.name!=b"} {
					r := subscribe(t, cluster, query.Query{Fields: fields}, "")
					r.settle()
					readers = append(readers, r)
				}
				advance(time.Minute)
				maxReviews, began := 0, len(server.Requests("POST"))
				for range 12 {
					before := len(server.Requests("POST"))
					advance(5 * time.Second)
					maxReviews = max(maxReviews, len(server.Requests("POST"))-before)
				}
				if n := len(server.Requests("POST")) - began; n > 60*test.perSecond || maxReviews > 5*test.perSecond*3/2 {
					t.Errorf("got %d reviews in a minute, at most %d in 5 s; want %d a second", n, maxReviews, test.perSecond)
				}
				for n := range 3 {
					server.Revoke(pods, names[n*15])
					advance(14 * time.Second)
					for at, r := range readers {
						r.settle()
						if _, shown := r.rows[names[n*15]+"/p"]; shown || len(r.rows) != 49-n {
							t.Errorf(
								"14 s after the permission for %s was revoked: reader %d has %d rows, %v",
								names[n*15], at, len(r.rows), shown,
							)
						}
					}
				}
				server.Refuse(pods, names[15], 0, "")
				advance(45 * time.Second)
				for at, r := range readers {
					if r.settle(); len(r.rows) != 48 {
						t.Errorf("45 s after a new permission: reader %d has %d rows, want 48", at, len(r.rows))
					}
				}
			})
		})
	}
}

// A new permission takes effect within a minute, even among 500 forbidden namespaces.
// Invariant: I20.
func TestNewPermissionAmongManyNamespaces(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for n := range 500 {
			server.Set("core/v1/namespaces", apitest.Item{Name: fmt.Sprint("closed-", n)})
		}
		server.Set(pods, pod("closed-77", "p", "Running"), pod("closed-333", "p", "Running"))
		allowOnly(server)
		var readers []*reader
		for _, fields := range []string{"", "metadata.name!=a", "metadata.name!=b", "metadata.name!=c"} {
			readers = append(readers, subscribe(t, cluster, query.Query{Fields: fields}, ""))
		}
		advance(90 * time.Second)
		for _, ns := range []string{"closed-77", "closed-333"} {
			server.Refuse(pods, ns, 0, "")
			advance(time.Minute)
			for n, r := range readers {
				r.settle()
				if _, shown := r.rows[ns+"/p"]; !shown {
					t.Errorf("a minute after the new permission for %s: reader %d has rows %v", ns, n, r.rows)
				}
			}
		}
	})
}
