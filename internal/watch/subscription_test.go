package watch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

func TestRowsViewSendsChangedCells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("b", "p", "Running"), pod("a", "p", "Running"), pod("a-b", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.wantSettle("state live, snapshot of 3")
		if fmt.Sprint(r.columns) != "[Name Status]" {
			t.Errorf("got columns %v", r.columns)
		}
		changed := pod("a", "p", "Failed")
		changed.Metadata = `"managedFields":[{"manager":"kubelet","operation":"Update","subresource":"status",` +
			`"time":"2026-11-21T10:00:00Z"}]`
		server.Set(pods, changed)
		m := r.next()
		if len(m.Events) != 1 || fmt.Sprint(m.Events[0].Cells) != "map[1:Failed]" || m.Events[0].By == nil ||
			m.Events[0].By.Manager != "kubelet" {
			t.Errorf("got update %+v, want the changed cell and the author kubelet", m)
		}
		server.Set(pods, pod("a", "q", "Pending"))
		server.Delete(pods, "b", "p")
		r.wantSettle("update a/p, add a/q, delete b/p")
		r.wantRows("a-b/p=Running", "a/p=Failed", "a/q=Pending")
	})
}

// A change that leaves managedFields the same has no author, because any manager can have made this change.
func TestUnchangedManagedFieldsGiveNoAuthor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		set := func(status, at string) {
			p := pod("a", "p", status)
			p.Metadata = fmt.Sprintf(
				`"managedFields":[{"manager":"kubelet","operation":"Update","time":%q,"fieldsV1":%s}]`, at, phase)
			server.Set(pods, p)
		}
		set("Pending", "2000-01-01T00:00:00Z")
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle() // This call takes 15 s of fake time.
		by := func() string {
			if e := r.next().Events; len(e) == 1 && e[0].By != nil {
				return e[0].By.Manager
			}
			return ""
		}
		set("Terminating", "2000-01-01T00:00:00Z") // The state after kubectl delete if a finalizer is pending.
		if got := by(); got != "" {
			t.Errorf("change without a manager: got author %q, want none", got)
		}
		// The manager of the newest entry is the author if this entry has the time of the change and contains the
		// changed fields.
		for _, status := range []string{"Running", "Failed"} {
			set(status, "2000-01-01T00:00:15Z")
			if got := by(); got != "kubelet" {
				t.Errorf("change to %s: got author %q, want kubelet", status, got)
			}
		}
	})
}

func TestSubscriptionsSendOnlyMatchingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, labelled(pod("a", "p", "Running"), "web"), labelled(pod("a", "q", "Running"), "db"),
			labelled(pod("b", "r", "Running"), "web"))
		all := subscribe(t, cluster, query.Query{}, "")
		web := subscribe(t, cluster, query.Query{Labels: "app=web"}, "")
		inA := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, "")
		inBoth := subscribe(t, cluster, query.Query{Namespaces: []string{"b", "a", "b"}}, "")
		words := subscribe(t, cluster, query.Query{Text: "RUN  a"}, "")
		all.wantSettle("state live, snapshot of 3")
		web.wantSettle("state live, snapshot of 2")
		inA.wantSettle("state live, snapshot of 2")
		inBoth.wantSettle("state live, snapshot of 3")
		words.wantSettle("state live, snapshot of 2")

		server.Set(pods, labelled(pod("a", "p", "Running"), "db"))
		server.Set(pods, labelled(pod("a", "q", "Failed"), "web"))
		server.Delete(pods, "b", "r")
		all.wantSettle("update a/p, update a/q, delete b/r")
		web.wantSettle("delete a/p, add a/q, delete b/r")
		inA.wantSettle("update a/p, update a/q")
		inBoth.wantSettle("update a/p, update a/q, delete b/r")
		words.wantSettle("update a/p, delete a/q")
		web.wantRows("a/q=Failed")
		words.wantRows("a/p=Running")

		if got := server.Requests("/pods?"); len(got) != 1 {
			t.Errorf("got upstream requests %s, want one", got)
		}
	})
}

func TestFieldSelectorsAreSentUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		r := subscribe(t, cluster, query.Query{Fields: "status.phase=Running"}, "")
		r.settle()
		if got := server.Requests("fieldSelector=status.phase%3DRunning"); len(got) == 0 {
			t.Errorf("got requests %s, want one with the field selector", server.Requests("/pods"))
		}
	})
}

// At most 20 informers have a field selector. The one that has been unused longest ends first.
func TestFieldSelectorsLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		selector := func(n int) query.Query {
			return query.Query{Resource: pods, Fields: fmt.Sprint("metadata.name=p", n)}
		}
		const limit = 20
		cursors := make([]string, limit)
		for n := range limit {
			r := subscribe(t, cluster, selector(n), "")
			for !r.isComplete {
				r.next()
			}
			cursors[n] = r.cursor
			r.sub.Close()
			<-time.After(time.Second)
		}
		readers := []*reader{subscribe(t, cluster, selector(limit), "")}
		for n := 1; n < limit; n++ {
			readers = append(readers, subscribe(t, cluster, selector(n), cursors[n]))
		}
		for _, r := range readers[1:] {
			r.wantSettle("state live")
		}
		_, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), selector(limit+1), stream.Rows, "")
		wantProblem(t, err, status.Unavailable, "Too many field selectors", "20 watches are in use")
		readers[0].sub.Close()
		subscribe(t, cluster, selector(0), cursors[0]).wantSettle("reset, state live, snapshot of 1")
	})
}

// Field selectors are limited for one user, for one share link, and for all share links together.
// Invariant: I30.
func TestFieldSelectorsPerViewerAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster, _ := newGuardedCluster(t)
		created := 0
		another := func() query.Query {
			created++
			return query.Query{Resource: pods, Fields: fmt.Sprint("metadata.name=p", created)}
		}
		acquire := func(viewer watch.Viewer, count int) (readers []*reader) {
			t.Helper()
			for range count {
				readers = append(readers, subscribeAs(t, cluster.For(viewer), another(), stream.Rows, ""))
			}
			return readers
		}
		wantRefused := func(viewer watch.Viewer, reason string) {
			t.Helper()
			sub, err := cluster.For(viewer).Subscribe(t.Context(), another(), stream.Rows, "")
			if err == nil {
				sub.Close()
			}
			wantProblem(t, err, status.Unavailable, "Too many field selectors", reason)
		}
		linkOne, linkTwo, linkThree := sharedWith(watch.Part{Resource: pods}),
			sharedWith(watch.Part{Resource: pods, Labels: "app=web"}),
			sharedWith(watch.Part{Resource: pods, Text: "web"})
		linkReaders := acquire(linkOne, 5)
		wantRefused(linkOne, "the viewers of this link use 5 watches")
		subscribeAs(t, cluster.For(linkOne), query.Query{Resource: pods, Fields: "metadata.name=p1"}, stream.Rows, "").
			sub.Close()
		wantRefused(linkOne, "the viewers of this link use 5 watches")
		acquire(linkTwo, 5)
		wantRefused(linkThree, "the viewers of all links use 10 watches")
		linkReaders[0].sub.Close()
		acquire(linkThree, 1)
		wantRefused(linkOne, "the viewers of all links use 10 watches")
		userReaders := acquire(user("all"), 10)
		wantRefused(user("all"), "you use 10 watches")
		wantRefused(watch.Viewer{Program: true}, "20 watches are in use")
		userReaders[0].sub.Close()
		acquire(user("all"), 1)
		wantRefused(user("ann"), "20 watches are in use")
	})
}

func TestInvalidFieldSelectorInNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Refuse(pods, "", http.StatusForbidden, "not all of them")
		server.Refuse(pods, "a", http.StatusBadRequest, "no such field")
		_, err := cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(),
			query.Query{Resource: pods, Namespaces: []string{"a"}, Fields: "status.phase=Running"}, 30*time.Second)
		wantProblem(t, err, status.Invalid, "Invalid field selector", "no such field")
	})
}

// If the API server is unavailable, the field selector is not reported as invalid.
func TestUnavailableServerMakesNoFieldSelectorInvalid(t *testing.T) {
	for _, code := range []int{
		http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, 0,
	} {
		t.Run(fmt.Sprint("status ", code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				subscribeView(t, cluster, query.Query{Resource: pods}, stream.Rows)
				if server.Down(code == 0); code != 0 {
					server.Refuse(pods, "", code, "no such field")
				}
				snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(),
					query.Query{Resource: pods, Fields: "status.phase=Running"}, 30*time.Second)
				switch {
				case code == http.StatusBadRequest || code == http.StatusUnprocessableEntity:
					wantProblem(t, err, status.Invalid, "Invalid field selector", "no such field")
				case err != nil || snapshot.Status.State != status.Failed:
					t.Errorf("got %+v, error %v, want state failed", snapshot, err)
				}
				server.Down(false)
			})
		})
	}
}

// An object recreated under the same name is another one: readers get a delete and an add.
func TestRecreatedObjectIsDeletedAndAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		again := pod("a", "p", "Pending")
		again.UID = "another"
		server.Set(pods, again)
		r.wantSettle("delete a/p, add a/p")
		r.wantRows("a/p=Pending")

		third := pod("a", "p", "Unknown")
		third.UID = "third"
		server.ChangeWhileDown(pods, func() { server.Set(pods, third) })
		if got := r.settle(); !strings.Contains(got, "delete a/p, add a/p") {
			t.Errorf("after a relist: got %s, want delete a/p, add a/p", got)
		}
		r.wantRows("a/p=Unknown")
	})
}

func TestSubscriptionResumesFromCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Running"))
		first := subscribe(t, cluster, query.Query{}, "")
		first.settle()
		snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(), query.Query{Resource: pods},
			time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		server.Set(pods, pod("a", "p", "Failed"))
		server.Set(pods, pod("a", "r", "Pending"))
		server.Set(pods, pod("a", "r", "Running"))
		server.Delete(pods, "a", "q")
		synctest.Wait()
		for name, cursor := range map[string]string{"a subscription": first.cursor, "a snapshot": snapshot.Cursor} {
			second := subscribe(t, cluster, query.Query{}, cursor)
			second.rows = map[string]messageRow{}
			maps.Copy(second.rows, first.rows)
			if got := second.settle(); got != "state live, update a/p, add a/r, delete a/q" {
				t.Errorf("cursor of %s: got %s", name, got)
			}
			second.wantRows("a/p=Failed", "a/r=Running")
			third := subscribe(t, cluster, query.Query{}, second.cursor)
			third.wantSettle("state live")
		}
	})
}

func TestInvalidCursorsCauseReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		own := subscribe(t, cluster, query.Query{}, "")
		own.settle()
		labels := subscribe(t, cluster, query.Query{Labels: "app!=x"}, "")
		labels.settle()
		object := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "p"}, "")
		object.settle()
		other := runCluster(t, server)
		foreign := subscribe(t, other, query.Query{}, "")
		foreign.settle()
		for name, cursor := range map[string]string{
			"invalid": "garbage!", "too long": own.cursor + "AAAA", "corrupted": "AAAA" + own.cursor[4:],
			"from other labels": labels.cursor, "from one object": object.cursor, "from another process": foreign.cursor,
		} {
			r := subscribe(t, cluster, query.Query{}, cursor)
			if got := r.settle(); got != "reset, state live, snapshot of 1" {
				t.Errorf("cursor %s: got %s, want reset, state live, snapshot of 1", name, got)
			}
		}
	})
}

// The history reaches back 5 minutes. A reader with an older cursor gets a reset.
func TestResumeBeyondHistoryCausesReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		first := subscribe(t, cluster, query.Query{}, "")
		first.settle()
		old := first.cursor
		server.Set(pods, pod("a", "p", "Failed"))
		server.Set(pods, pod("a", "q", "Failed"))
		first.settle()
		<-time.After(6 * time.Minute)
		server.Set(pods, pod("a", "q", "Running"))
		first.wantSettle("update a/q")

		r := subscribe(t, cluster, query.Query{}, old)
		r.wantSettle("state live, reset, snapshot of 2")
		r.wantRows("a/p=Failed", "a/q=Running")
	})
}

// If a watch cannot be resumed, a new list replaces it. Readers get only the differences.
func TestRelistSendsOnlyDifferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Running"), pod("a", "r", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.ChangeWhileDown(pods, func() {
			server.Set(pods, pod("a", "p", "Failed"), pod("a", "s", "Pending"))
			server.Delete(pods, "a", "q")
		})
		if got := strings.NewReplacer("state stale, ", "", "state live, ", "", ", state live", "").
			Replace(r.settle()); got != "delete a/q, update a/p, add a/s" {
			t.Errorf("got %s, want delete a/q, update a/p, add a/s", got)
		}
		r.wantRows("a/p=Failed", "a/r=Running", "a/s=Pending")
	})
}

func TestEmptyRelistSendsNoReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		r := subscribe(t, cluster, query.Query{}, "")
		r.wantSettle("state live, snapshot of 0")
		server.ChangeWhileDown(pods, func() {})
		if got := r.settle(); strings.Contains(got, "reset") {
			t.Errorf("got %s, want no reset", got)
		}
		server.Set(pods, pod("a", "p", "Running"))
		r.wantSettle("add a/p")
	})
}

func TestChangedColumnsCauseSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		old := r.cursor
		server.SetColumns(pods, `[{"name":"Status","type":"string"},{"name":"Name","type":"string"}]`)
		server.EndWatches(pods) // An API server ends watches when a definition changes.
		server.Set(pods, apitest.Item{Namespace: "a", Name: "p", Cells: `["Running","p"]`})
		if got := r.settle(); !strings.Contains(got, "reset") || !strings.HasSuffix(got, "snapshot of 1") ||
			strings.Contains(got, "update") {
			t.Errorf("got %s, want a reset, a snapshot last, and no update", got)
		}
		if fmt.Sprint(r.columns) != "[Status Name]" {
			t.Errorf("got columns %v, want [Status Name]", r.columns)
		}
		again := subscribe(t, cluster, query.Query{}, old)
		if got := again.settle(); got != "reset, state live, snapshot of 1" {
			t.Errorf("cursor from before the columns changed: got %s, want a reset", got)
		}
	})
}

func TestLargeSnapshotIsSentInSeveralMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for i := range 60 {
			server.Set(pods, pod("a", fmt.Sprintf("p%02d", i), strings.Repeat("x", 10_000)))
		}
		r := subscribe(t, cluster, query.Query{}, "")
		var parts []string
		for {
			m := r.next()
			if m.Type != "snapshot" {
				continue
			}
			parts = append(parts, fmt.Sprint(len(m.Columns), " ", len(m.Rows), " ", m.Last))
			if m.Last {
				break
			}
		}
		if got := strings.Join(parts, ", "); got != "2 13 false, 0 13 false, 0 13 false, 0 13 false, 0 8 true" {
			t.Errorf("got parts %s", got)
		}
		if len(r.rows) != 60 {
			t.Errorf("got %d rows, want 60", len(r.rows))
		}
		if _, messages := snapshotOf(t, cluster, stream.Table); messages != len(parts) {
			t.Errorf("Table view: got %d parts, want %d as in the Rows view", messages, len(parts))
		}
	})
}

// Without changes, a heartbeat is sent every 15 s. A digest of the rows is due after the second one.
func TestQuietSubscriptionSendsHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		r := subscribe(t, cluster, query.Query{Labels: "app=api"}, "")
		r.settle()
		last := r.cursor
		start := time.Now()
		for range 2 {
			if m := r.next(); m.Type != "heartbeat" || m.Cursor != last {
				t.Errorf("got %+v, want a heartbeat with the last cursor", m)
			}
		}
		if got := time.Since(start); got != 2*stream.Heartbeat || stream.Heartbeat != 15*time.Second {
			t.Errorf("two heartbeats: got %s, want 30s", got)
		}
		server.Set(pods, labelled(pod("a", "p", "Running"), "db"))
		if m := r.next(); m.Type != "events" || len(m.Events) != 0 || m.Cursor == last {
			t.Errorf("got %+v, want no events and a newer cursor", m)
		}
		moved := r.cursor
		if m := r.next(); m.Type != "digest" || m.Cursor != moved {
			t.Errorf("got %+v, want a digest with the cursor of the last message", m)
		}
		if m := r.next(); m.Type != "heartbeat" || m.Cursor != moved {
			t.Errorf("got %+v, want a heartbeat with the cursor of the last message", m)
		}
	})
}

func TestObjectViewSendsPatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Running"))
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "p"}, "")
		var snapshot message
		for snapshot.Type != "snapshot" {
			snapshot = r.next()
		}
		if want := `{"apiVersion":"v1","kind":"Pod",` +
			`"metadata":{"name":"p","namespace":"a","uid":"a/p","resourceVersion":"103"},` +
			`"status":{"phase":"Running"}}`; string(snapshot.Object) != want || !snapshot.Last {
			t.Errorf("got snapshot %s, want %s", snapshot.Object, want)
		}
		server.Set(pods, pod("a", "q", "Failed"))
		server.Set(pods, pod("a", "p", "Failed"))
		m := r.next()
		if len(m.Events) == 0 {
			m = r.next()
		}
		if want := `[{"op":"replace","path":"/metadata/resourceVersion","value":"106"},` +
			`{"op":"replace","path":"/status/phase","value":"Failed"}]`; len(m.Events) != 1 ||
			string(m.Events[0].Patch) != want || m.Events[0].RV != "106" {
			t.Errorf("got update %+v, want %s", m, want)
		}
		server.Delete(pods, "a", "p")
		if m := r.next(); len(m.Events) != 1 || m.Events[0].Op != "delete" || m.Events[0].UID != "a/p" {
			t.Errorf("got %+v, want a delete of a/p", m)
		}
		server.Set(pods, pod("a", "p", "Pending"))
		if m := r.next(); len(m.Events) != 1 || m.Events[0].Op != "add" ||
			!strings.Contains(string(m.Events[0].Object), "Pending") {
			t.Errorf("got %+v, want an add with Pending", m)
		}
		missing := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "none"}, "")
		missing.next()
		if m := missing.next(); m.Type != "snapshot" || m.Object != nil || !m.Last {
			t.Errorf("missing object: got %+v, want a snapshot without an object", m)
		}
	})
}

func TestInvalidSubscriptionsAreRefused(t *testing.T) {
	names := make([]string, 201)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	for _, test := range []struct {
		name   string
		query  query.Query
		view   stream.View
		title  string
		detail string
	}{
		{"unknown view", query.Query{Resource: pods}, "colors", "Unknown view", `"colors"`},
		{
			"object without a name",
			query.Query{Resource: pods},
			stream.Object, "Name and view do not match",
			"needs a name",
		},
		{
			"rows with a name",
			query.Query{Resource: pods, Name: "p"},
			stream.Rows, "Name and view do not match",
			"do not allow one",
		},
		{
			"a table with a name",
			query.Query{Resource: pods, Name: "p"},
			stream.Table, "Name and view do not match",
			"do not allow one",
		},
		{
			"object without a namespace",
			query.Query{Resource: pods, Name: "p"},
			stream.Object, "Invalid object reference",
			"exactly one namespace",
		},
		{"label selector", query.Query{Resource: pods, Labels: "a=b=c"}, stream.Rows, "Invalid label selector", "a=b=c"},
		{"field selector", query.Query{Resource: pods, Fields: "a~b"}, stream.Rows, "Invalid field selector", "a~b"},
		{
			"invalid namespace",
			query.Query{Resource: pods, Namespaces: []string{"../x"}},
			stream.Rows, "Invalid namespace",
			"../x",
		},
		{
			"too many namespaces",
			query.Query{Resource: pods, Namespaces: names},
			stream.Rows, "Too many namespaces",
			"201",
		},
		{
			"namespace of a cluster-scoped resource",
			query.Query{Resource: "core/v1/namespaces", Namespaces: []string{"a"}},
			stream.Rows, "Not namespaced", "omit ns",
		},
		{
			"invalid name",
			query.Query{Resource: pods, Namespaces: []string{"a"}, Name: "../x"},
			stream.Object,
			"Invalid name", "../x",
		},
		{
			"label selector too long",
			query.Query{Resource: pods, Labels: strings.Repeat("a", 5000)},
			stream.Rows,
			"Selector too long", "4096",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, cluster := serveCluster(t)
				sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), test.query, test.view, "")
				if sub != nil {
					sub.Close()
				}
				wantProblem(t, err, status.Invalid, test.title, test.detail)
			})
		})
	}
}

func TestUnknownNamespaceIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a", "nowhere"}}, "")
		var err error
		for err == nil {
			_, err = r.try()
		}
		wantProblem(t, err, status.Unknown, "Unknown namespace", `"nowhere"`)
		_, err = cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(),
			query.Query{Resource: pods, Namespaces: []string{"nowhere"}}, time.Minute)
		wantProblem(t, err, status.Unknown, "Unknown namespace", `"nowhere"`)

		// A namespace that the program cannot read is not reported as unknown.
		server.MakeUnavailable("/api/v1/namespaces/hidden", "no")
		subscribe(t, cluster, query.Query{Namespaces: []string{"hidden"}}, "").wantSettle("state live, snapshot of 0")
	})
}

func TestSecondCloseHasNoEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := serveCluster(t)
		subscribeView(t, cluster, query.Query{}, stream.Rows)
		twice := subscribeView(t, cluster, query.Query{}, stream.Rows)
		twice.Close()
		twice.Close()
		for _, c := range cluster.WatchStatus().Entries {
			if c.Resource == pods && c.Readers != 1 {
				t.Errorf("got %d readers, want 1", c.Readers)
			}
		}
	})
}

// Invariant: I7.
func TestRunEndsImmediatelyDuringOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		cluster, err := watch.New(server.Config,
			watch.Options{Linger: time.Minute, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- cluster.Run(ctx) }()
		synctest.Wait()
		server.Down(true)
		subscribe(t, cluster, query.Query{}, "")
		<-time.After(10 * time.Minute)
		cancel()
		began := time.Now()
		if err := <-ended; err != nil || time.Since(began) > 0 {
			t.Errorf("Run ended %s after cancel with error %v, want without delay", time.Since(began), err)
		}
	})
}

func TestSubscriptionEndsWithTheCluster(t *testing.T) {
	var r *reader
	synctest.Test(t, func(t *testing.T) {
		_, cluster := serveCluster(t)
		sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), query.Query{Resource: pods},
			stream.Rows, "")
		if err != nil {
			t.Fatal(err)
		}
		r = &reader{t: t, sub: sub, rows: map[string]messageRow{}}
		r.settle()
		t.Cleanup(r.sub.Close)
	})
	_, err := r.sub.Next(t.Context())
	if err == nil {
		// The first call returned a digest, which was due: the real clock is years ahead of the test's fake clock.
		_, err = r.sub.Next(t.Context())
	}
	if !errors.Is(err, stream.ErrClosed) {
		t.Errorf("Next after the end: got error %v, want ErrClosed", err)
	}
}

func TestSharedListBeyondHistoryIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		cluster := runClusterWith(t, server,
			watch.Options{Linger: time.Minute, Ring: informer.Ring{Bytes: 1}, Log: slog.New(slog.DiscardHandler)})
		for n := range 3000 {
			server.Set(pods, pod("a", fmt.Sprint("p", n), "Running"))
		}
		first := subscribe(t, cluster, query.Query{}, "")
		for len(first.rows) == 0 {
			first.next()
		}
		for n := range 10 {
			server.Set(pods, pod("a", "p0", strconv.Itoa(n)))
		}
		synctest.Wait()
		subscribe(t, cluster, query.Query{}, "").wantSettle("state live, snapshot of 3000")
		runtime.KeepAlive(first)
	})
}
