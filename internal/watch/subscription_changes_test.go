package watch_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

type changesReader struct {
	t      *testing.T
	sub    *watch.Subscription
	cursor string
	since  time.Time
}

func subscribeChanges(t *testing.T, cluster *watch.Cluster, q query.Query, cursor string) *changesReader {
	t.Helper()
	q.Resource = pods
	sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), q, stream.Changes, cursor)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sub.Close)
	return &changesReader{t: t, sub: sub}
}

type changeEvent struct {
	Op, NS, Name, UID, RV string
	Severity              string
	Time                  time.Time
	Patch, Object         json.RawMessage
	By                    *struct{ Manager string }
	Authors               []struct {
		Manager string
		Ops     []int
	}
}

func (e *changeEvent) String() string {
	s := []string{e.Op, e.NS + "/" + e.Name}
	if e.By != nil {
		s = append(s, "by", e.By.Manager)
	}
	for _, a := range e.Authors {
		s = append(s, fmt.Sprint(a.Manager, a.Ops))
	}
	return strings.Join(s, " ")
}

// settle reads up to the next heartbeat, which is sent after 15 s without changes.
func (c *changesReader) settle() string {
	c.t.Helper()
	var log []string
	for {
		m := c.next()
		switch m.Type {
		case "state":
			continue
		case "heartbeat":
			synctest.Wait()
			return strings.Join(log, ", ")
		}
		if len(m.Events) == 0 || m.Type == "snapshot" {
			log = append(log, m.Type)
		}
		for i := range m.Events {
			log = append(log, m.Events[i].String())
		}
	}
}

type changesMessage struct {
	Type, Cursor string
	Since        time.Time
	Last         bool
	Object       json.RawMessage
	Events       []changeEvent
}

func (c *changesReader) next() (m changesMessage) {
	c.t.Helper()
	text, err := c.sub.Next(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte("{"+string(text)+"}"), &m); err != nil {
		c.t.Fatalf("decode message %s: %v", text, err)
	}
	if m.Cursor != "" {
		c.cursor = m.Cursor
	}
	if m.Type == "snapshot" {
		if c.since = m.Since; !m.Last {
			c.t.Errorf("snapshot message is not marked as last: %s", text)
		}
	}
	return m
}

func (c *changesReader) wantSettle(want string) {
	c.t.Helper()
	if got := c.settle(); got != want {
		c.t.Errorf("got  %s\nwant %s", got, want)
	}
}

// managedBy adds managedFields to an object. The argument managers alternates between a name and its fieldsV1.
func managedBy(p apitest.Item, second int, managers ...string) apitest.Item {
	entries := []string{}
	for i := 0; i < len(managers); i += 2 {
		entries = append(entries,
			fmt.Sprintf(`{"manager":%q,"operation":"Update","time":"2000-01-01T00:%02d:%02dZ","fieldsV1":%s}`,
				// The time of each entry is 1 s later than that of the entry before it. The fake clock starts at 00:00:00.
				managers[i], (second+i/2)/60, (second+i/2)%60, managers[i+1]))
	}
	p.Metadata = `"managedFields":[` + strings.Join(entries, ",") + `]`
	return p
}

const phase, labels = `{"f:status":{"f:phase":{}}}`, `{"f:metadata":{"f:labels":{"f:app":{}}}}`

// The Changes view sends each change separately, in order, with its author.
func TestChangesViewSendsEachChangeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "listed", "Running"))
		listed := time.Now()
		first := subscribeChanges(t, cluster, query.Query{}, "")
		first.wantSettle("snapshot") // Objects of the first list are not changes. This call takes 15 s of fake time.
		if !first.since.Equal(listed) {
			t.Errorf("history start: got %s, want %s", first.since, listed)
		}
		server.Set(pods, managedBy(pod("a", "p", "Pending"), 15, "kubectl", phase))
		server.Set(pods, managedBy(pod("a", "p", "Running"), 15, "kubectl", `{}`, "kubelet", phase))
		server.Set(pods, pod("b", "q", "Running"))
		server.Delete(pods, "a", "p")
		const history = "add a/p by kubectl, update a/p by kubelet, add b/q, delete a/p"
		first.wantSettle(history)

		cursor := first.cursor
		server.Set(pods, managedBy(pod("b", "q", "Failed"), 31, "kubelet", phase))
		server.Set(pods, managedBy(pod("b", "q", "Running"), 32, "kubelet", phase))
		first.wantSettle("update b/q by kubelet, update b/q by kubelet")
		subscribeChanges(t, cluster, query.Query{}, cursor).wantSettle("update b/q by kubelet, update b/q by kubelet")
		subscribeChanges(t, cluster, query.Query{}, "").
			wantSettle("snapshot, " + history + ", update b/q by kubelet, update b/q by kubelet")
		subscribeChanges(t, cluster, query.Query{Namespaces: []string{"b"}}, "").
			wantSettle("snapshot, add b/q, update b/q by kubelet, update b/q by kubelet")
		subscribeChanges(t, cluster, query.Query{Name: "p"}, "").
			wantSettle("snapshot, add a/p by kubectl, update a/p by kubelet, delete a/p")

		server.SetCells(pods, "b", "q", `["q","Odd"]`)
		server.ChangeWhileDown(pods, func() {})
		// Only the table cells changed, not the object, so the message contains no event.
		first.wantSettle("events")
	})
}

// The add of an object with a problem has its severity, so that clients can distinguish Warning and Normal events.
func TestChangesViewSendsTheSeverityOfAddedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveRates(t)
		open := func(ref string) *changesReader {
			sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(
				t.Context(), query.Query{Resource: ref}, stream.Changes, "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(sub.Close)
			return &changesReader{t: t, sub: sub}
		}
		got := map[string]string{}
		read := func(c *changesReader) {
			for m := c.next(); m.Type != "heartbeat"; m = c.next() {
				for _, e := range m.Events {
					got[e.Op+" "+e.Name] = e.Severity
				}
			}
		}
		podChanges, eventChanges := open(pods), open(events)
		podChanges.settle()
		eventChanges.settle()
		server.Set(events, warning("a", "bad", "Pod", "p", "Warning", 1))
		server.Set(events, warning("a", "good", "Pod", "p", "Normal", 1))
		server.Set(events, warning("a", "bad", "Pod", "p", "Warning", 2))
		server.Set(pods, withSeverity(pod("a", "failed", "Failed"), verdict.Failed))
		server.Set(pods, withSeverity(pod("a", "new", "Pending"), verdict.Progressing))
		server.Delete(events, "a", "bad")
		read(podChanges)
		read(eventChanges)
		want := map[string]string{
			"add bad": "degraded", "add good": "", "update bad": "", "delete bad": "", "add failed": "failed", "add new": "",
		}
		if !maps.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

// All patches, applied in order to the first object, give the current object.
// Invariant: I41. A reader of the changes of one object first gets the object as it was before the oldest change. From
// this object, a client can compute the values before each change. If the server restarts, the page continues to show
// the changes that it has received. The page shows where changes are missing.
func TestChangesViewOfOneObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "listed"))
		snapshot := func(q query.Query) (m changesMessage) {
			f := subscribeChanges(t, cluster, q, "")
			for m.Type != "snapshot" {
				m = f.next()
			}
			return m
		}
		object := query.Query{Namespaces: []string{"a"}, Name: "p"}
		subscribeChanges(t, cluster, object, "").settle()
		want := func(q query.Query, want string) {
			t.Helper()
			m := snapshot(q)
			got := []string{phaseOf(m.Object)}
			for i := range m.Events {
				got = append(got, m.Events[i].Op+phaseOf(m.Events[i].Object))
			}
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		want(object, " listed")
		live := subscribeChanges(t, cluster, object, "")
		live.settle()
		for _, phase := range []string{"1", "2"} {
			server.Set(pods, pod("a", "p", phase))
		}
		synctest.Wait()
		want(object, " listed, update, update")
		server.Delete(pods, "a", "p")
		server.Set(pods, pod("a", "p", "recreated"))
		synctest.Wait()
		want(object, " listed, update, update, delete, add recreated")
		m := live.next()
		for ; m.Type != "events" || m.Events[len(m.Events)-1].Op != "add"; m = live.next() {
		}
		if got := phaseOf(m.Events[len(m.Events)-1].Object); got != " recreated" {
			t.Errorf("recreated object: got phase%s, want recreated", got)
		}
		want(query.Query{}, ", update, update, delete, add")
		for n := range 200 {
			server.Set(pods, pod("a", "p", fmt.Sprint("n", n)))
		}
		<-time.After(time.Second)
		server.Set(pods, pod("a", "p", "last"))
		synctest.Wait()
		if m := snapshot(object); len(m.Events) != 200 || phaseOf(m.Object) != " n0" || !m.Since.Equal(m.Events[0].Time) {
			t.Errorf("got %d events, first phase%s, history start %s; want the newest 200 from n0, history start %s",
				len(m.Events), phaseOf(m.Object), m.Since, m.Events[0].Time)
		}
	})
}

func phaseOf(object json.RawMessage) string {
	var p struct{ Status struct{ Phase string } }
	if len(object) == 0 || json.Unmarshal(object, &p) != nil {
		return ""
	}
	return " " + p.Status.Phase
}

// Invariant: I43.
func TestChangeEventsHaveAllMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.settle()
		for _, step := range []struct {
			do   func()
			want string
		}{
			{
				func() { server.Set(pods, managedBy(pod("a", "p", "Pending"), 15, "kubectl", phase)) },
				`{"op":"add","ns":"a","name":"p","uid":"a/p","rv":"103","time":"2000-01-01T00:00:15.000Z",` +
					`"by":{"manager":"kubectl","operation":"Update","time":"2000-01-01T00:00:15Z"}}`,
			},
			{
				func() { server.Set(pods, managedBy(pod("a", "p", "Running"), 15, "kubectl", `{}`, "kubelet", phase)) },
				`{"op":"update","ns":"a","name":"p","uid":"a/p","rv":"104","time":"2000-01-01T00:00:15.000Z",` +
					`"patch":[{"op":"replace","path":"/metadata/resourceVersion","value":"104"},` +
					`{"op":"replace","path":"/status/phase","value":"Running"}],` +
					`"by":{"manager":"kubelet","operation":"Update","time":"2000-01-01T00:00:16Z"},` +
					`"was":{"0":"103","1":"Pending"}}`,
			},
			{
				func() { server.Delete(pods, "a", "p") },
				`{"op":"delete","ns":"a","name":"p","uid":"a/p","rv":"104","time":"2000-01-01T00:00:15.000Z"}`,
			},
		} {
			step.do()
			text, err := f.sub.Next(t.Context())
			if _, events, _ := strings.Cut(string(text), `"events":`); err != nil || events != "["+step.want+"]" {
				t.Errorf("got  %s, %v\nwant %s", events, err, step.want)
			}
		}
	})
}

func TestChangesViewResetsAfterHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.settle()
		old := f.cursor
		server.Set(pods, pod("a", "p", "Pending"))
		server.Set(pods, pod("a", "p", "Running"))
		f.settle()
		newest := time.Now()
		<-time.After(6 * time.Minute)
		server.Set(pods, pod("a", "q", "Running"))
		synctest.Wait()
		again := subscribeChanges(t, cluster, query.Query{}, old)
		again.wantSettle("reset, snapshot, add a/q")
		if again.since.After(newest) || newest.Sub(again.since) > 30*time.Second {
			t.Errorf("history is complete since %s; want at most 30 s before %s, when the last lost change occurred",
				again.since, newest)
		}
	})
}

func TestChangesViewStartsWithNewest200(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		subscribeChanges(t, cluster, query.Query{}, "").settle()
		for i := range 3000 {
			server.Set(pods, pod([]string{"a", "b"}[i%2], fmt.Sprint("p", i), "Running"))
		}
		synctest.Wait()
		for namespace, want := range map[string]string{"a": "p2998", "": "p2999"} {
			q := query.Query{}
			if namespace != "" {
				q.Namespaces = []string{namespace}
			}
			f := subscribeChanges(t, cluster, q, "")
			m := f.next()
			for m.Type != "snapshot" {
				m = f.next()
			}
			if n := len(m.Events); n != 200 || m.Events[n-1].Name != want {
				t.Errorf("namespace %q: got %d events, want 200 up to %s", namespace, n, want)
			}
		}
	})
}

// Many changes are split into several messages. A reader can resume from the cursor of each message.
func TestChangesViewLimitsMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.settle()
		server.Set(pods, pod("a", "p", ""))
		for i := range 99 {
			server.Set(pods, pod("a", "p", strings.Repeat(string(rune('a'+i%20)), 20_000)))
		}
		synctest.Wait()
		seen := 0
		for seen < 100 {
			m := f.next()
			size := 0
			for i := range m.Events {
				size += len(m.Events[i].Patch)
			}
			if size > 300_000 || len(m.Events) == 0 {
				t.Fatalf("got a message of %d changes and %d bytes, want at least 1 change and at most 300,000 bytes",
					len(m.Events), size)
			}
			resumed := subscribeChanges(t, cluster, query.Query{}, f.cursor)
			resumed.next()
			if seen += len(m.Events); seen < 100 {
				if next := resumed.next(); next.Events[0].RV != strconv.Itoa(103+seen) {
					t.Errorf("resume after %d changes: got resourceVersion %s first", seen, next.Events[0].RV)
				}
			}
		}
		if m := f.next(); m.Type != "heartbeat" || seen != 100 {
			t.Errorf("got %d changes, then %+v; want 100, then a heartbeat", seen, m)
		}
		patchBytes := 0
		snapshot := subscribeChanges(t, cluster, query.Query{}, "")
		for m := snapshot.next(); patchBytes == 0; m = snapshot.next() {
			for i := range m.Events {
				patchBytes += len(m.Events[i].Patch)
			}
		}
		if patchBytes > 1_100_000 {
			t.Errorf("got a snapshot of %d bytes, want at most 1,100,000", patchBytes)
		}
	})
}

// After a revocation, readers restart from a snapshot, without delete events for hidden objects.
func TestChangesViewAfterPermissionLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.settle()
		server.Set(pods, pod("a", "q", "Running"))
		f.wantSettle("add a/q")
		server.Refuse(pods, "", 403, "not any more")
		server.Expire(pods)
		server.EndWatches(pods)
		if got := f.settle(); strings.Contains(got, "delete") || !strings.HasSuffix(got, "reset") {
			t.Errorf("after the list is forbidden: got %s, want a reset and no delete", got)
		}
		server.Refuse(pods, "", 0, "")
		<-time.After(time.Minute)
		f.wantSettle("snapshot")
		server.Delete(pods, "a", "q")
		f.wantSettle("delete a/q")
		subscribeChanges(t, cluster, query.Query{}, "").wantSettle("snapshot, delete a/q")
	})
}

func TestChangesViewOfUnknownNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := serveCluster(t)
		f := subscribeChanges(t, cluster, query.Query{Namespaces: []string{"nowhere"}}, "")
		var err error
		for err == nil {
			_, err = f.sub.Next(t.Context())
		}
		wantProblem(t, err, status.Unknown, "Unknown namespace", `"nowhere"`)
	})
}

// Objects that become visible or hidden because permissions change are not sent as changes.
// Invariant: I20.
func TestCoverageIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a")
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.wantSettle("snapshot")
		for range 2 {
			server.Refuse(pods, "b", 0, "")
			<-time.After(time.Minute)
			if got := f.settle(); strings.Contains(got, "a/p") || strings.Contains(got, "b/q") {
				t.Errorf("new permission: got changes %s, want none", got)
			}
			server.Set(pods, pod("b", "q", "Failed"))
			f.wantSettle("update b/q")
			server.Revoke(pods, "b")
			<-time.After(15 * time.Second)
			if got := f.settle(); strings.Contains(got, "a/p") || strings.Contains(got, "b/q") {
				t.Errorf("revoked permission: got changes %s, want none", got)
			}
			server.Set(pods, pod("b", "q", "Running"))
		}
		server.Delete(pods, "a", "p")
		f.wantSettle("delete a/p")
	})
}

// When the permission to watch is revoked or granted, the same objects stay visible. Readers get the changes that the
// next list finds.
// Invariant: I20.
func TestChangesAfterWatchPermissionChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Running"))
		server.RevokeWatch(pods)
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.wantSettle("snapshot")
		for _, status := range []string{"Failed", "Running"} {
			server.ChangeWhileDown(pods, func() {
				server.Set(pods, pod("a", "p", status), pod("a", "n-"+status, "Pending"))
				server.Delete(pods, "a", "q")
			})
			if status == "Failed" {
				server.RefuseWatches(pods, 0)
			} else {
				server.RevokeWatch(pods)
			}
			<-time.After(time.Minute)
			f.wantSettle("delete a/q, add a/n-" + status + ", update a/p")
			server.Set(pods, pod("a", "q", "Running"))
			<-time.After(time.Minute)
			f.wantSettle("add a/q")
		}
	})
}

// If a watch of all namespaces replaces a watch of one namespace, the changes in that namespace are sent. Newly visible
// objects are not sent as changes.
// Invariant: I20.
func TestChangesAfterPermissionForAllNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Running"), pod("b", "r", "Running"))
		server.RevokeWatch(pods)
		allowOnly(server, "a")
		f := subscribeChanges(t, cluster, query.Query{}, "")
		f.wantSettle("snapshot")
		lists := func() int { return cluster.WatchStatus().Entries[1].Lists }
		// Wait for a list of the pods. The next one is 30 s later, so an access review (every 10 s) is sent before it.
		for before := lists(); lists() == before; {
			advance(time.Second)
		}
		server.Set(pods, pod("a", "p", "Failed"))
		server.Delete(pods, "a", "q")
		server.Refuse(pods, "", 0, "")
		<-time.After(time.Minute)
		f.wantSettle("delete a/q, update a/p")
	})
}

// The Changes view sends the time since which it is complete. For several namespaces, this is the time of the newest
// list.
func TestChangesAreCompleteSinceLastList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "1"))
		allowOnly(server, "a")
		subscribe(t, cluster, query.Query{}, "").settle()
		listed := time.Now()
		<-time.After(time.Minute)
		server.Refuse(pods, "b", 0, "")
		allowed := time.Now()
		<-time.After(time.Minute)
		since := func(namespaces ...string) time.Time {
			f := subscribeChanges(t, cluster, query.Query{Namespaces: namespaces}, "")
			f.settle()
			return f.since
		}
		a, b, both := since("a"), since("b"), since()
		if a.After(listed) || b.Before(allowed) || !both.Equal(b) {
			t.Errorf("history start of a: got %s, want %s; of b: got %s, want after %s; of both: got %s, want that of b",
				a, listed, b, allowed, both)
		}
		server.Down(true)
		advance(10 * time.Second)
		server.Set(pods, pod("a", "p", "1"))
		server.Set(pods, pod("a", "p", "2"))
		server.Expire(pods)
		server.Down(false)
		back := time.Now()
		<-time.After(time.Minute)
		if a = since("a"); a.Before(back) {
			t.Errorf("history start of a after a relist: got %s, want after %s", a, back)
		}
	})
}
