package watch_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"

	"k8s.io/client-go/transport"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

func TestForbiddenResourceLosesRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		bystander := subscribe(t, cluster, query.Query{Resource: "core/v1/namespaces"}, "")
		r.settle()
		bystander.wantSettle("state live, snapshot of 2")
		server.Refuse(pods, "", http.StatusForbidden, "pods is forbidden: you may not")
		r.settle()
		if r.wantRows(); r.state != "forbidden" || !strings.HasSuffix(r.reason, "pods is forbidden: you may not") {
			t.Errorf("got state %s: %s, want forbidden with a reason", r.state, r.reason)
		}
		late := subscribe(t, cluster, query.Query{}, "")
		late.wantSettle("state forbidden")
		snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
			t.Context(), query.Query{Resource: pods}, time.Minute,
		)
		if err != nil || len(snapshot.Objects) != 0 || snapshot.Status.State != status.Forbidden {
			t.Errorf("Snapshot: got %+v, error %v", snapshot, err)
		}

		<-time.After(10 * time.Minute)
		r.wantSettle("")

		server.Refuse(pods, "", 0, "")
		<-time.After(90 * time.Second)
		r.settle()
		if r.wantRows("a/p=Running", "b/q=Running"); r.state != "live" {
			t.Errorf("got state %s, want live", r.state)
		}
		late.wantSettle("state live, snapshot of 2")
		bystander.wantSettle("")
	})
}

// If the API server does not accept the credentials of this program any more, the rows stay, and the state is stale.
// The program does not treat this as a lost permission.
// Invariant: I24.
func TestExpiredCredentialsMakeStale(t *testing.T) {
	const path, reason = "/api/v1/namespaces/a/pods/p", "The API server does not accept the credentials of this program"
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		access := cluster.For(watch.Viewer{Program: true})
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.FailPath(apitest.SelfReviewsPath, http.StatusUnauthorized, "Unauthorized")
		server.FailPath(path, http.StatusUnauthorized, "Unauthorized")
		server.Refuse(pods, "", http.StatusUnauthorized, "Unauthorized")
		advance(time.Minute)
		r.settle()
		if r.wantRows("a/p=Running"); r.state != "stale" || !strings.HasPrefix(r.reason, reason) {
			t.Errorf("got state %s: %s, want stale with a reason", r.state, r.reason)
		}
		if _, current, err := access.LastKnown(t.Context(), pods, "a", "p"); err != nil || current.State != status.Stale {
			t.Errorf("LastKnown: got status %+v, error %v; want stale", current, err)
		}
		_, err := access.Object(t.Context(), pods, "a", "p")
		wantProblem(t, err, status.Unavailable, "API server rejected the credentials", reason)
		server.FailPath(apitest.SelfReviewsPath, 0, "")
		server.FailPath(path, 0, "")
		server.Refuse(pods, "", 0, "")
		server.Set(pods, pod("a", "p", "Failed"))
		advance(90 * time.Second)
		r.settle()
		if r.wantRows("a/p=Failed"); r.state != "live" {
			t.Errorf("got state %s, want live", r.state)
		}
	})
}

func TestStaleDuringReplacementList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		server.Set(pods, pod("a", "p", "Running"))
		server.FailPath(apitest.SelfReviewsPath, http.StatusForbidden, "no reviews for you")
		var slow atomic.Bool
		server.Config.WrapTransport = slowLists(&slow)
		cluster := runCluster(t, server)
		r := subscribe(t, cluster, query.Query{}, "")
		r.wantSettle("state live, snapshot of 1")
		slow.Store(true)
		server.RefuseWatches(pods, http.StatusForbidden)
		<-time.After(3 * time.Second)
		if r.next(); r.state != "stale" {
			t.Errorf("without a watch: got state %s, want stale", r.state)
		}
		<-time.After(20 * time.Second)
		if r.settle(); r.state != "stale" || !strings.Contains(r.reason, "listed, but not watched") {
			t.Errorf("got state %s: %s, want stale because the watch is forbidden", r.state, r.reason)
		}
	})
}

func slowLists(slow *atomic.Bool) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			if slow.Load() && r.Method == http.MethodGet && r.URL.Query().Get("watch") == "" {
				select {
				case <-time.After(20 * time.Second):
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}
			return next.RoundTrip(r)
		})
	}
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A resource that the program may list but not watch is listed at intervals. Its state is never live.
func TestUnwatchableResourceIsPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		server.RefuseWatches(pods, http.StatusForbidden)
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		if r.wantRows("a/p=Running"); r.state != "stale" {
			t.Errorf("got state %s, want stale", r.state)
		}
		<-time.After(5 * time.Minute)
		r.wantSettle("")
		if !strings.Contains(r.reason, "listed, but not watched") {
			t.Errorf("got reason %q, want that the watch is forbidden", r.reason)
		}
		server.Set(pods, pod("a", "p", "Failed"))
		<-time.After(time.Minute)
		r.wantSettle("update a/p")
		server.RefuseWatches(pods, 0)
		<-time.After(time.Minute)
		r.wantSettle("state live")
	})
}

// The test runs 20 times, because the list after the ended watch starts after a random delay.
func TestRelistIsNotLive(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			server, cluster := serveCluster(t)
			server.Set(pods, pod("a", "p", "Running"))
			r := subscribe(t, cluster, query.Query{}, "")
			r.settle()
			server.HangStreamingLists(pods)
			server.Expire(pods)
			cut := time.Now()
			for r.state == "live" && time.Since(cut) < 25*time.Second {
				r.next()
			}
			if passed := time.Since(cut); r.state != "stale" || passed > 3*time.Second {
				t.Errorf("after %s: got state %s, want stale within 3 s", passed, r.state)
			}
		})
	}
}

func TestChangedCellsAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.ChangeWhileDown(pods, func() { server.SetCells(pods, "a", "p", `["p","A"]`) })
		<-time.After(90 * time.Second)
		r.settle()
		r.wantRows("a/p=A")
	})
}

func TestForbiddenResourceBecomesLiveOncePermitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Refuse(pods, "", http.StatusForbidden, "you may not")
		r := subscribe(t, cluster, query.Query{}, "")
		r.wantSettle("state forbidden")
		snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
			t.Context(), query.Query{Resource: pods}, time.Minute,
		)
		if err != nil || snapshot.Synced || snapshot.Cursor != "" ||
			!strings.HasSuffix(snapshot.Status.Reason, "you may not") {
			t.Errorf("Snapshot: got %+v, error %v", snapshot, err)
		}
		server.Refuse(pods, "", 0, "")
		<-time.After(90 * time.Second)
		r.wantSettle("state live, snapshot of 0")
	})
}

func TestAllowedNamespaceIsReadSeparately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		server.Refuse(pods, "", http.StatusForbidden, "not all of them")
		server.Refuse(pods, "a", 0, "not all of them")
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, "")
		r.wantSettle("state live, snapshot of 1")
		r.wantRows("a/p=Running")
		server.Set(pods, pod("a", "p", "Failed"), pod("b", "q", "Failed"))
		r.wantSettle("update a/p")
		subscribe(t, cluster, query.Query{Namespaces: []string{"b"}}, "").wantSettle("state forbidden")
		if len(server.Requests("/namespaces/a/pods?")) == 0 {
			t.Error("got no request for the namespace")
		}
	})
}

func TestRemovedResourceIsAbsent(t *testing.T) {
	const ref = "example.com/v1/widgets"
	widgets := apitest.Kind{Ref: ref, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`}
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(widgets)
		server.Set(ref, apitest.Item{Namespace: "a", Name: "w"})
		r := subscribe(t, cluster, query.Query{Resource: ref}, "")
		r.wantSettle("state live, snapshot of 1")
		server.RemoveKind(ref)
		// Either a list or discovery detects the removal first. Therefore, the state "absent" can be sent before or after
		// the reset.
		if got := strings.ReplaceAll(r.settle(), "state absent, ", ""); got != "reset, snapshot of 0" ||
			r.state != "absent" {
			t.Errorf("got state %s after the messages %s, want absent after a reset", r.state, got)
		}
		for since := time.Now(); time.Since(since) < 90*time.Second; {
			r.wantSettle("")
		}
		if r.wantRows(); r.state != "absent" {
			t.Errorf("got state %s, want absent", r.state)
		}
		access := cluster.For(watch.Viewer{Program: true})
		_, _ = access.Resource(t.Context(), ref)
		<-time.After(2 * time.Second)
		_, err := access.Resource(t.Context(), ref)
		wantProblem(t, err, status.Unknown, "Unknown resource", "does not serve")
		server.AddKind(widgets)
		<-time.After(90 * time.Second)
		r.wantSettle("state live")
		server.Set(ref, apitest.Item{Namespace: "a", Name: "again"})
		r.settle()
		if r.wantRows("a/again=again"); r.state != "live" {
			t.Errorf("got state %s, want live", r.state)
		}
	})
}

// If a watch is interrupted for more than 1 s (gracePeriod), the state is stale since the start of the interruption.
func TestInterruptedWatchIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()

		server.EndWatches(pods)
		r.wantSettle("")

		cut := time.Now()
		server.RefuseWatches(pods, http.StatusInternalServerError)
		if m := r.next(); m.State != "stale" || !m.Since.Equal(cut) || m.Reason == "" {
			t.Errorf("got %+v, want stale since %s with a reason", m, cut)
		}
		if passed := time.Since(cut); passed > 2*time.Second {
			t.Errorf("state stale: sent after %s, want at most 2 s", passed)
		}
		<-time.After(5 * time.Minute)
		r.settle()
		if r.wantRows("a/p=Running"); r.state != "stale" || !r.since.Equal(cut) {
			t.Errorf("got state %s since %s, want stale since %s", r.state, r.since, cut)
		}
		server.RefuseWatches(pods, 0)
		server.Set(pods, pod("a", "p", "Failed"))
		<-time.After(90 * time.Second)
		r.settle()
		if r.wantRows("a/p=Failed"); r.state != "live" {
			t.Errorf("got state %s, want live", r.state)
		}
	})
}

// After an outage of 6 hours, the program is live again within 15 s, and clients can resume from cursors that they got
// before the outage.
// Invariant: I24.
func TestClientsResumeAfterLongOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		cursor := r.cursor
		down := time.Now()
		server.Down(true)
		const outage = 6 * time.Hour
		for time.Since(down) < outage {
			if r.next(); time.Since(down) > 2*time.Second && r.state != "stale" {
				t.Fatalf("got state %s after %s", r.state, time.Since(down))
			}
		}
		if !r.since.Equal(down) {
			t.Errorf("stale since: got %s, want %s", r.since, down)
		}
		server.Down(false)
		back := time.Now()
		for r.state != "live" {
			r.next()
		}
		if passed := time.Since(back); passed > 15*time.Second {
			t.Errorf("live %s after the API server is available again, want at most 15 s", passed)
		}
		if got := r.settle(); strings.Contains(got, "reset") || strings.Contains(got, "snapshot") {
			t.Errorf("got %s, want no messages", got)
		}
		server.Set(pods, pod("a", "p", "Failed"))
		late := subscribe(t, cluster, query.Query{}, cursor)
		late.rows["a/p"] = messageRow{UID: "a/p", Cells: []any{"p", "Running"}}
		late.wantSettle("state live, update a/p")
		if lists := server.Requests("sendInitialEvents"); len(lists) != 1 {
			t.Errorf("got lists %s, want one", lists)
		}
	})
}

// If a watch request gets no response, for example because a backend hangs, the request is canceled. A list then finds
// the missed changes.
// Invariant: I25.
func TestUnansweredWatchIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.Hang("/api/v1/pods")
		server.EndWatches(pods)
		for r.state == "live" {
			r.next()
		}
		advance(30 * time.Second)
		server.FailPath("/api/v1/pods", 0, "")
		server.Set(pods, pod("a", "p", "Failed"))
		for began := time.Now(); r.state != "live"; {
			if r.next(); time.Since(began) > 3*time.Minute {
				t.Fatalf("got state %s after %s, want live", r.state, time.Since(began))
			}
		}
		r.settle()
		r.wantRows("a/p=Failed")
	})
}

// An API server can accept a watch, but send an error instead of the missed changes. The state stays stale until a list
// is complete.
// Invariant: I24.
func TestStaleUntilRelisted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		down := time.Now()
		server.Down(true)
		for time.Since(down) < time.Minute {
			r.next()
		}
		server.ChangeWhileDown(pods, func() { server.Delete(pods, "a", "p") })
		for r.state != "live" {
			if r.next(); r.state != "live" && (r.state != "stale" || !r.since.Equal(down)) {
				t.Fatalf("got state %s since %s, want stale since %s", r.state, r.since, down)
			}
		}
		back := time.Now()
		for len(r.rows) > 1 {
			r.next()
		}
		if wrong := time.Since(back); wrong > 0 {
			t.Errorf("a deleted row was live for %s", wrong)
		}
		if c := cluster.WatchStatus().Entries; len(c) != 1 || c[0].Interruptions != 1 {
			t.Errorf("WatchStatus: got %+v, want one interruption", c)
		}
	})
}

// If a new watch cannot continue after the last change of the previous one, the state is stale. It is stale since the
// end of the previous watch.
// Invariant: I24.
func TestStaleSinceLastContinuedWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.FailStreamingLists(pods, "not now")
		cut := time.Now()
		server.Expire(pods)
		for r.state != "stale" {
			r.next()
		}
		if passed := time.Since(cut); !r.since.Equal(cut) || passed > 2*time.Second {
			t.Errorf("after %s: stale since: got %s, want %s", passed, r.since, cut)
		}
	})
}

func TestWatchCutWithinLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.Send(pods, `{"type":"ADDED","object":{"kind":"Table","apiVersion":"me`)
		synctest.Wait()
		server.EndWatches(pods)
		server.Set(pods, pod("a", "p", "Failed"))
		r.wantSettle("update a/p")
		if got := server.Requests("sendInitialEvents"); len(got) != 1 {
			t.Errorf("got lists %s, want one", got)
		}
	})
}

func TestInvalidWatchEventCausesRelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.Send(pods, "nonsense\n")
		server.Set(pods, pod("a", "p", "Failed"))
		<-time.After(90 * time.Second)
		r.settle()
		if r.wantRows("a/p=Failed"); r.state != "live" {
			t.Errorf("got state %s, want live", r.state)
		}
	})
}

// If a resource has no new changes, its changes are still dropped from the history after 5 minutes.
// Invariant: I13.
func TestQuietResourcesDropHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		for n := range 100 {
			server.Set(pods, pod("a", "p", strconv.Itoa(n)))
		}
		r.settle()
		kept := func() int {
			for _, c := range cluster.WatchStatus().Entries {
				if c.Resource == pods {
					return c.RingChanges
				}
			}
			return 0
		}
		if kept() != 100 {
			t.Errorf("got %d retained changes, want 100", kept())
		}
		advance(5 * time.Minute)
		if kept() > 1 {
			t.Errorf("got %d retained changes after 5 minutes, want at most 1", kept())
		}
		if got := r.settle(); got != "" {
			t.Errorf("got %s, want no messages", got)
		}
	})
}

func TestStalledStreamingListIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		server.HangStreamingLists(pods)
		start := time.Now()
		r := subscribe(t, cluster, query.Query{}, "")
		for r.state != "live" && time.Since(start) < 5*time.Minute {
			r.next()
		}
		if passed := time.Since(start); passed < 15*time.Second || passed > 30*time.Second {
			t.Errorf("live after %s, want 15 to 30 s", passed)
		}
		r.settle()
		r.wantRows("a/p=Running")

		streams := len(server.Requests("sendInitialEvents"))
		server.ChangeWhileDown(pods, func() { server.Set(pods, pod("a", "p", "Failed")) })
		<-time.After(20 * time.Second)
		r.settle()
		r.wantRows("a/p=Failed")
		if now := len(server.Requests("sendInitialEvents")); now != streams {
			t.Errorf("got %d more streaming lists, want 0", now-streams)
		}
	})
}

// If a streaming list fails, readers get the reason, although client-go would retry the list silently.
func TestFailedStreamingListIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		server.FailStreamingLists(pods, "the webhook is down")
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		if r.state != "failed" || !strings.Contains(r.reason, "the webhook is down") {
			t.Errorf("got state %s: %s, want failed with a reason", r.state, r.reason)
		}
		if len(server.Requests("limit=")) == 0 {
			t.Error("got no request for a plain list")
		}
		server.FailStreamingLists(pods, "")
		advance(time.Minute)
		r.settle()
		r.wantRows("a/p=Running")
		streams := len(server.Requests("sendInitialEvents"))
		server.Expire(pods)
		advance(time.Minute)
		if len(server.Requests("sendInitialEvents")) == streams {
			t.Error("got no further request for a streaming list")
		}
	})
}

func TestSyncingSendsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.HangStreamingLists(pods)
		r := subscribe(t, cluster, query.Query{}, "")
		var counts []int
		for i := range 3 {
			server.Set(pods, pod("a", fmt.Sprint("p", i), "Running"))
			m := r.next()
			for m.Count == nil {
				m = r.next()
			}
			counts = append(counts, *m.Count)
			<-time.After(time.Second)
		}
		if fmt.Sprint(counts) != "[1 2 3]" {
			t.Errorf("got counts %v, want [1 2 3]", counts)
		}
		snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
			t.Context(), query.Query{Resource: pods}, time.Second,
		)
		if err != nil || snapshot.Synced || snapshot.Status.State != status.Syncing || snapshot.Status.Count == nil ||
			*snapshot.Status.Count != 3 {
			t.Errorf("Snapshot: got %+v, error %v, want state syncing with a count", snapshot, err)
		}
	})
}

// During a list, readers get the number of objects that have arrived, and the expected total. If the number exceeds the
// total, they get only the number.
// Invariant: I38.
func TestSyncingSendsTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		requests := 0
		server.Config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
			return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("limit") != "1" {
					return next.RoundTrip(r)
				}
				requests++
				page := `{"metadata":{"continue":"more","remainingItemCount":3},` +
					`"items":[{"metadata":{"name":"p0","namespace":"b","uid":"u"}}]}`
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(page)),
				}, nil
			})
		}
		cluster := runCluster(t, server)
		server.Set(pods, pod("b", "p", "Running"))
		server.HangStreamingLists(pods)
		r := subscribe(t, cluster, query.Query{}, "")
		progress := func() string {
			m := r.next()
			for m.Count == nil {
				m = r.next()
			}
			if m.Total == nil {
				return strconv.Itoa(*m.Count)
			}
			return fmt.Sprint(*m.Count, " of ", *m.Total)
		}
		got := []string{progress()}
		for i := range 4 {
			<-time.After(time.Second)
			server.Set(pods, pod("b", fmt.Sprint("p", i), "Running"))
			got = append(got, progress())
		}
		if want := []string{"1", "2 of 4", "3 of 4", "4 of 4", "5"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if requests != 1 {
			t.Errorf("got %d count requests, want 1", requests)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p0", "Running"))
		subscribe(t, cluster, query.Query{}, "").wantSettle("state live, snapshot of 1")
		<-time.After(time.Minute)
		if requests := server.Requests("limit=1"); len(requests) > 0 {
			t.Errorf("got count requests for a short list: %v", requests)
		}
	})
}

func TestPollingUpdatesResourceWithoutWatchVerb(t *testing.T) {
	const ref = "metrics.example.com/v1/pods"
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{Ref: ref, Kind: "PodMetrics", Verbs: []string{"get", "list"}})
		r := subscribe(t, cluster, query.Query{Resource: ref}, "")
		r.settle()
		if fmt.Sprint(r.columns) != "[Name Age]" || !r.isComplete || r.state != "stale" ||
			!strings.Contains(r.reason, "does not support watches") {
			t.Errorf("got columns %v, state %s: %s", r.columns, r.state, r.reason)
		}
		server.Set(ref, apitest.Item{Namespace: "a", Name: "m"})
		<-time.After(31 * time.Second)
		if r.settle(); len(r.rows) != 1 {
			t.Errorf("got rows %v, want one", r.rows)
		}
		now, err := cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(), query.Query{Resource: ref}, 0)
		if err != nil || !now.Status.Since.IsZero() {
			t.Errorf("stale since: got %s, error %v; want no time because of a later list", now.Status.Since, err)
		}
		for _, line := range server.Requests("/metrics.example.com/v1/pods?") {
			if strings.Contains(line, "watch=") {
				t.Errorf("got a watch request: %s", line)
			}
		}
	})
}

// An API server can send a list in pages although the request had no limit. The program then reads all pages.
func TestPolledListInPages(t *testing.T) {
	const ref = "metrics.example.com/v1/pods"
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{Ref: ref, Kind: "PodMetrics", Verbs: []string{"get", "list"}, Page: 2})
		for n := range 5 {
			server.Set(ref, apitest.Item{Namespace: "a", Name: fmt.Sprint("m", n)})
		}
		r := subscribe(t, cluster, query.Query{Resource: ref}, "")
		r.wantSettle("state stale, snapshot of 5")
		server.Delete(ref, "a", "m4")
		<-time.After(31 * time.Second)
		r.wantSettle("delete a/m4")
	})
}

// If a date column has no JSONPath, its dates are computed from printed ages such as "33h". After a new list, they can
// differ only by rounding. Readers do not get this as a change.
func TestRoundingOfComputedDatesIsNoChange(t *testing.T) {
	const ref = "metrics.example.com/v1/pods"
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{
			Ref: ref, Kind: "PodMetrics", Columns: `[{"name":"Name","type":"string"},{"name":"Seen","type":"date"}]`,
		})
		server.Set(ref, apitest.Item{Namespace: "a", Name: "m", Cells: `["m","33h"]`})
		r := subscribe(t, cluster, query.Query{Resource: ref}, "")
		r.wantSettle("state live, snapshot of 1")
		if _, err := time.Parse(time.RFC3339, fmt.Sprint(r.rows["a/m"].Cells[1])); err != nil {
			t.Errorf("got the date %v, want RFC 3339", r.rows["a/m"].Cells[1])
		}
		<-time.After(10 * time.Minute)
		server.Expire(ref)
		<-time.After(time.Minute)
		r.wantSettle("")
		for _, c := range cluster.WatchStatus().Entries {
			if c.Resource == ref && c.Lists != 2 {
				t.Errorf("got %d lists, want 2", c.Lists)
			}
		}
	})
}

// If objects have no resourceVersion, their content determines whether they have changed.
func TestObjectsWithoutVersionAreComparedByContent(t *testing.T) {
	const ref = "metrics.example.com/v1/pods"
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{Ref: ref, Kind: "PodMetrics", Verbs: []string{"get", "list"}})
		usage := func(name, cpu string) apitest.Item {
			return apitest.Item{
				Namespace: "a", Name: name, Metadata: `"resourceVersion":""`,
				Rest: fmt.Sprintf(`"usage":{"cpu":%q}`, cpu),
			}
		}
		server.Set(ref, usage("m", "1"), usage("n", "1"))
		r := subscribe(t, cluster, query.Query{Resource: ref}, "")
		r.settle()
		<-time.After(5 * time.Minute)
		r.wantSettle("")
		for _, c := range cluster.WatchStatus().Entries {
			if c.Lists < 10 || c.RingChanges > 0 {
				t.Errorf("got %d lists and %d retained changes, want at least 10 and 0", c.Lists, c.RingChanges)
			}
		}
		server.Set(ref, usage("n", "2"))
		<-time.After(31 * time.Second)
		r.wantSettle("update a/n")
	})
}

// If an API server returns plain objects instead of a Table, the columns are Name and Age.
func TestPlainObjectsHaveNameAndAgeColumns(t *testing.T) {
	const ref = "metrics.example.com/v1/pods"
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{Ref: ref, Kind: "PodMetrics"})
		r := subscribe(t, cluster, query.Query{Resource: ref}, "")
		r.wantSettle("state live, snapshot of 0")
		server.Set(ref, apitest.Item{Namespace: "a", Name: "m"})
		if r.settle(); len(r.rows) != 1 {
			t.Errorf("got rows %v, want one", r.rows)
		}
		if fmt.Sprint(r.columns) != "[Name Age]" {
			t.Errorf("got columns %v", r.columns)
		}
	})
}

// If a resource has no readers, its watch ends after Options.Linger. Later readers cannot resume from cursors of the
// ended watch.
// Invariant: I21.
func TestWatchEndsAfterLingerTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(
			t.Context(), query.Query{Resource: pods}, stream.Rows, "",
		)
		if err != nil {
			t.Fatal(err)
		}
		r := &reader{t: t, sub: sub, rows: map[string]messageRow{}}
		r.settle()
		sub.Close()
		sub.Close()

		advance(4 * time.Minute)
		back := subscribe(t, cluster, query.Query{}, r.cursor)
		back.wantSettle("state live")
		back.sub.Close()
		advance(4 * time.Minute)
		watched := func() bool {
			known, _, err := cluster.For(watch.Viewer{Program: true}).Resources().List(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			for i := range known {
				if known[i].Ref() == pods {
					return known[i].Status != nil
				}
			}
			return false
		}
		if !watched() {
			t.Error("informer stopped before the linger time")
		}
		advance(2 * time.Minute)
		if watched() {
			t.Error("resource is still watched after the linger time")
		}
		lists := len(server.Requests("/pods?"))
		server.Set(pods, pod("a", "p", "Failed"))
		again := subscribe(t, cluster, query.Query{}, r.cursor)
		again.wantSettle("reset, state live, snapshot of 1")
		again.wantRows("a/p=Failed")
		if now := len(server.Requests("/pods?")); now != lists+1 {
			t.Errorf("got %d upstream requests for the new informer, want 1", now-lists)
		}
	})
}

// A response with status 200 can be something other than a list, for example an HTML page of a gateway. The program
// does not treat it as an empty list.
func TestResponseThatIsNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.FailPath("/api/v1/pods", http.StatusOK, "hello")
		server.Expire(pods)
		<-time.After(time.Minute)
		r.settle()
		if r.wantRows("a/p=Running"); r.state != "stale" || !strings.Contains(r.reason, "not a list") {
			t.Errorf("got state %s: %s, want stale because the response is not a list", r.state, r.reason)
		}
	})
}
