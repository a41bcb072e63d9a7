package watch_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// windowClient applies messages of a window (a range of sorted rows) as the page does. Faulty messages fail the test.
type windowClient struct {
	t      *testing.T
	window *query.Window
	sub    *watch.Subscription

	rows            []messageRow
	columns         []string
	total, matching int
	offset, count   int
	isComplete      bool
	state           string
	log             []string
	by              []string // The authors of the rows in the newest message.
	removals        []string
	errors          int
	warnings        int
	changes         int // The sum of the change counts in all messages.
	newest          string
	cursor          string
	digests         int
}

func openWindow(t *testing.T, cluster *watch.Cluster, q query.Query, sort string, offset, count int) *windowClient {
	t.Helper()
	p, err := tryWindow(t, cluster, q, sort, offset, count)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryWindow(
	t *testing.T, cluster *watch.Cluster, q query.Query, sort string, offset, count int,
) (*windowClient, error) {
	t.Helper()
	window, err := query.NewWindow(sort, offset, count)
	if err != nil {
		return nil, err
	}
	q.Resource, q.Window = cmp.Or(q.Resource, pods), window
	sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), q, stream.Windowed, "")
	if err != nil {
		return nil, err
	}
	t.Cleanup(sub.Close)
	return &windowClient{t: t, window: window, sub: sub}, nil
}

type windowMessage struct {
	Type, State, Cursor, Reason    string
	Digest                         string
	Columns                        []struct{ Name string }
	Total, Matching, Offset, Count *int
	Failing, Waiting, Changes      int
	Newest                         *struct {
		Op, NS, Name  string
		Before, Cells map[string]any
		By            *struct{ Manager string }
	}
	Rows   []messageRow
	Events []struct {
		Op, UID, RV, Why string
		At               int
		Row              *messageRow
		Cells            map[string]any
		By               *struct{ Manager string }
	}
}

func (w *windowClient) next() windowMessage {
	w.t.Helper()
	m, err := w.try()
	if err != nil {
		w.t.Fatalf("Next: got error %v after the messages %s", err, w.log)
	}
	return m
}

func (w *windowClient) try() (m windowMessage, err error) {
	w.t.Helper()
	text, err := w.sub.Next(w.t.Context())
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal([]byte("{"+string(text)+"}"), &m); err != nil {
		w.t.Errorf("decode message %s: %v", text, err)
		return m, err
	}
	if m.Type == "window" || m.Type == "window-events" {
		w.cursor = m.Cursor
	}
	w.changes += m.Changes
	if n := m.Newest; n != nil {
		w.newest = fmt.Sprint(n.Op, " ", n.NS, "/", n.Name)
		if n.Cells != nil {
			w.newest += fmt.Sprint(" ", n.Before, " ", n.Cells)
		}
		if n.By != nil {
			w.newest += " by " + n.By.Manager
		}
	}
	if m.Total != nil {
		w.errors, w.warnings = m.Failing, m.Waiting
	}
	switch m.Type {
	case "state":
		w.state = m.State
		if m.State != "syncing" {
			w.log = append(w.log, "state "+m.State)
		}
	case "reset":
		w.isComplete = false
		w.log = append(w.log, "reset")
	case "heartbeat":
	case "digest":
		w.digests++
		rows := make(map[string]livetest.Row, len(w.rows))
		for _, row := range w.rows {
			rows[row.NS+"/"+row.Name] = livetest.Row{RV: row.RV}
		}
		if sum := livetest.Digest(rows); *m.Count != len(rows) || m.Digest != sum || m.Cursor != w.cursor {
			w.t.Errorf("digest: got %s of %d rows at cursor %s; the copy has %s of %d rows at cursor %s",
				m.Digest, *m.Count, m.Cursor, sum, len(rows), w.cursor)
		}
	case "window":
		w.applyWindow(&m)
	case "window-events":
		w.applyEvents(&m)
	default:
		w.t.Errorf("unknown message type: %s", text)
	}
	return m, nil
}

func (w *windowClient) applyWindow(m *windowMessage) {
	w.t.Helper()
	if m.Columns == nil == !w.isComplete || m.Total == nil || m.Matching == nil || m.Offset == nil || m.Count == nil {
		w.t.Errorf("got a window with %d columns, total %v, matching %v, offset %v, count %v; "+
			"want all numbers, and columns only in the first message", len(m.Columns), m.Total, m.Matching, m.Offset, m.Count)
		return
	}
	if m.Columns != nil {
		w.columns = nil
		for _, c := range m.Columns {
			w.columns = append(w.columns, c.Name)
		}
	}
	w.isComplete, w.rows, w.total, w.matching, w.offset, w.count = true, m.Rows, *m.Total, *m.Matching, *m.Offset, *m.Count
	w.log = append(w.log, fmt.Sprintf("window of %d", len(w.rows)))
}

func (w *windowClient) applyEvents(m *windowMessage) {
	w.t.Helper()
	if !w.isComplete || m.Total == nil || m.Matching == nil {
		w.t.Errorf("got events before a window or without counts: %+v", m)
		return
	}
	w.total, w.matching = *m.Total, *m.Matching
	w.by = nil
	for _, e := range m.Events {
		if end := len(w.rows); e.At < 0 || e.At > end || e.At == end && e.Op != "insert" {
			w.t.Errorf("event %s: index %d is out of range, the window has %d rows", e.Op, e.At, end)
			return
		}
		switch e.Op {
		case "remove":
			w.log = append(w.log, fmt.Sprintf("remove %s at %d", w.rows[e.At].Name, e.At))
			w.removals = append(w.removals, strings.TrimSpace(w.rows[e.At].Name+" "+e.Why))
			if e.Cells != nil {
				w.removals = append(w.removals, fmt.Sprint(e.Cells))
			}
			w.rows = slices.Delete(w.rows, e.At, e.At+1)
		case "insert":
			w.rows = slices.Insert(w.rows, e.At, *e.Row)
			w.log = append(w.log, fmt.Sprintf("insert %s at %d", e.Row.Name, e.At))
		case "update":
			row := w.rows[e.At]
			if row.UID != e.UID {
				w.t.Errorf("update: got uid %s in the row of %s", e.UID, row.UID)
			}
			row.RV, row.Cells = e.RV, slices.Clone(row.Cells)
			for at, cell := range e.Cells {
				i, err := strconv.Atoi(at)
				if err != nil || i >= len(row.Cells) {
					w.t.Errorf("cell index %q is out of range, the row has %d cells", at, len(row.Cells))
					return
				}
				row.Cells[i] = cell
			}
			w.rows[e.At] = row
			w.log = append(w.log, fmt.Sprintf("update %s at %d", row.Name, e.At))
		default:
			w.t.Errorf("unknown event type: %+v", e)
		}
		if e.By != nil {
			w.by = append(w.by, e.By.Manager)
		}
	}
}

func (w *windowClient) settle() string {
	w.t.Helper()
	for {
		if m := w.next(); m.Type == "heartbeat" || m.Type == "window-events" && len(m.Events) == 0 && w.heartbeat() {
			log := strings.Join(w.log, ", ")
			w.log = nil
			synctest.Wait()
			return log
		}
	}
}

func (w *windowClient) heartbeat() bool {
	w.t.Helper()
	return w.next().Type == "heartbeat"
}

func (w *windowClient) wantSettle(want string) {
	w.t.Helper()
	if got := w.settle(); got != want {
		w.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func (w *windowClient) names() string {
	names := make([]string, len(w.rows))
	for i, row := range w.rows {
		names[i] = row.Name
	}
	return strings.Join(names, " ")
}

func (w *windowClient) wantNames(want string, total, matching int) {
	w.t.Helper()
	if got := w.names(); got != want || w.total != total || w.matching != matching {
		w.t.Errorf("got rows %s of %d matching of %d; want %s of %d of %d", got, w.matching, w.total, want, matching, total)
	}
}

func (w *windowClient) move(offset, count int) {
	w.t.Helper()
	if err := w.window.Move(offset, count, "", ""); err != nil {
		w.t.Fatal(err)
	}
}

// A window gets changes of its rows by index. Changes of other rows affect only its counts.
// Invariant: I10. Each message with a window (a range of sorted rows) contains the position of the window. After large
// changes, the server sends all rows of the window again. Windows with the same rows share one encoded text. Slow
// readers get the current state instead of each change. The number of sorted lists is limited, and the watch status
// contains their memory. If a reader waits for access to a sorted list, it misses no change.
func TestWindowSendsChangesByIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for n := range 10 {
			server.Set(pods, pod("a", fmt.Sprint("p", n), "Running"))
		}
		p := openWindow(t, cluster, query.Query{Text: "RUNN p"}, "-name", 2, 3)
		p.wantSettle("state live, window of 3")
		p.wantNames("p7 p6 p5", 10, 10)
		if p.offset != 2 || p.count != 3 || fmt.Sprint(p.columns) != "[Name Status]" {
			t.Errorf("got offset %d, count %d, columns %v", p.offset, p.count, p.columns)
		}
		changed := pod("a", "p6", "Running (more)")
		changed.Metadata = `"managedFields":[{"manager":"kubelet","operation":"Update","subresource":"status",` +
			`"time":"2026-11-21T10:00:00Z"}]`
		server.Set(pods, changed)
		p.wantSettle("update p6 at 1")
		if fmt.Sprint(p.by) != "[kubelet]" || p.rows[1].Cells[1] != "Running (more)" {
			t.Errorf("got author %v, row %v", p.by, p.rows[1])
		}
		server.Set(pods, pod("a", "p6x", "Running")) // In descending order, p6x is between p7 and p6.
		p.wantSettle("remove p5 at 2, insert p6x at 1")
		server.Set(pods, pod("a", "p9", "Failed"))
		p.wantSettle("remove p7 at 0, insert p5 at 2")
		p.wantNames("p6x p6 p5", 11, 10)
		server.Set(pods, pod("a", "p0", "Failed"), pod("b", "p00", "Failed"))
		p.wantSettle("")
		p.wantNames("p6x p6 p5", 12, 9)
		server.Delete(pods, "a", "p6")
		p.wantSettle("remove p6 at 1, insert p4 at 2")

		p.move(7, 100)
		p.wantSettle("window of 1")
		p.move(8, 100)
		p.wantSettle("window of 0")
		for range 5 {
			p.move(0, 1)
			p.move(0, 2)
		}
		p.wantSettle("window of 2") // The client moved several times, and gets one response, for the newest move.
		p.move(0, 2)
		p.wantSettle("window of 2") // Each Move gets a response, even without a change.
		p.wantNames("p8 p7", 11, 8)
	})
}

// If an object is replaced by another object of the same name, the row is new. If most rows are new, all rows are sent.
// Invariant: I10.
func TestWindowIsSentCompletely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for n := range 50 {
			server.Set(pods, pod("a", fmt.Sprintf("p%02d", n), "Running"))
		}
		p := openWindow(t, cluster, query.Query{}, "status", 0, 20)
		p.settle()
		again := pod("a", "p03", "Running")
		again.UID = "another"
		server.Set(pods, again)
		if got := p.settle(); !strings.HasPrefix(got, "remove p03 at 3, ") ||
			!strings.HasSuffix(got, "insert p03 at 3") || p.rows[3].UID != "another" {
			t.Errorf("got %s and row %+v at index 3", got, p.rows[3])
		}
		for n := range 30 {
			server.Set(pods, pod("a", fmt.Sprintf("p%02d", 49-n), "Again"))
		}
		synctest.Wait()
		p.wantSettle("window of 20")
		if p.rows[0].Name != "p20" {
			t.Errorf("first row: got %s, want p20", p.rows[0].Name)
		}
		server.Refuse(pods, "", 403, "no more")
		for p.state != "forbidden" {
			p.next()
		}
		p.settle()
		if !p.isComplete || p.total != 0 || len(p.rows) != 0 {
			t.Errorf("after the list is forbidden: got %d rows of %d, want none", len(p.rows), p.total)
		}
		server.Refuse(pods, "", 0, "")
		for p.state != "live" {
			p.next()
		}
		p.settle()
		if p.total != 50 || len(p.rows) != 20 {
			t.Errorf("after the list is permitted again: got %d rows of %d, want 20 of 50", len(p.rows), p.total)
		}
	})
}

// Invariant: I10.
func TestWindowAfterNamespaceDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a", "b")
		p := openWindow(t, cluster, query.Query{}, "name", 0, 10)
		p.settle()
		p.wantNames("p q", 2, 2)
		server.Delete(namespaces, "", "b")
		advance(time.Minute)
		p.wantSettle("state live, remove q at 1")
		p.wantNames("p", 1, 1)
	})
}

// A window (a range of sorted rows) whose sort column is removed ends with an error.
// Invariant: I10.
func TestWindowResetsForNewColumns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Failed"))
		byName := openWindow(t, cluster, query.Query{}, "name", 0, 10)
		byStatus := openWindow(t, cluster, query.Query{}, "status", 0, 10)
		byName.settle()
		byStatus.settle()
		byStatus.wantNames("q p", 2, 2)
		server.SetColumns(pods, `[{"name":"Phase","type":"string"},{"name":"Name","type":"string"}]`)
		server.EndWatches(pods)
		server.Set(pods, apitest.Item{Namespace: "a", Name: "p", Cells: `["Running","p"]`},
			apitest.Item{Namespace: "a", Name: "q", Cells: `["Failed","q"]`})
		if got := byName.settle(); !strings.Contains(got, "reset") || !strings.HasSuffix(got, "window of 2") ||
			fmt.Sprint(byName.columns) != "[Phase Name]" {
			t.Errorf("got %s with columns %v", got, byName.columns)
		}
		byName.wantNames("p q", 2, 2)
		var err error
		for err == nil {
			_, err = byStatus.try()
		}
		wantProblem(t, err, status.Invalid, "Unknown column",
			`"status" to sort by. The columns are phase, name, namespace, severity, and auto`)
	})
}

func TestInvalidWindowsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		for _, at := range [][2]int{{-1, 10}, {1<<30 + 1, 10}, {0, 0}, {0, -1}, {0, 1001}} {
			_, err := tryWindow(t, cluster, query.Query{}, "", at[0], at[1])
			wantProblem(
				t, err, status.Invalid, "Invalid window", fmt.Sprintf("offset %d and count %d,", at[0], at[1]),
			)
		}
		p := openWindow(t, cluster, query.Query{}, "", 0, 1000)
		p.wantSettle("state live, window of 1")
		wantProblem(t, p.window.Move(-1, 10, "", ""), status.Invalid, "Invalid window", "offset -1")
		p.wantSettle("")
		_, err := tryWindow(t, cluster, query.Query{Name: "p"}, "", 0, 10)
		wantProblem(t, err, status.Invalid, "Name and view do not match", "window")
		_, err = cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), query.Query{Resource: pods},
			stream.Windowed, "")
		wantProblem(t, err, status.Invalid, "Invalid window", "needs a range of rows")
		_, err = cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(),
			query.Query{Resource: pods, Window: p.window}, stream.Rows, "")
		wantProblem(t, err, status.Invalid, "Invalid window", "other views do not allow one")
		for _, sort := range []string{"colour", "-", "-colour", "--name"} {
			p := openWindow(t, cluster, query.Query{}, sort, 0, 10)
			for err = nil; err == nil; {
				_, err = p.try()
			}
			wantProblem(t, err, status.Invalid, "Unknown column", "The columns are name, status, namespace, severity, and auto")
		}
		p = openWindow(t, cluster, query.Query{Namespaces: []string{"nowhere"}}, "", 0, 10)
		for err = nil; err == nil; {
			_, err = p.try()
		}
		wantProblem(t, err, status.Unknown, "Unknown namespace", `"nowhere"`)
	})
}

// The order "auto" is by severity while an object is failed, even if this object does not match the words of the query.
func TestAutoOrderIsBySeverityWhileAnObjectIsFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		set := func(name string, severity verdict.Severity) {
			server.Set(pods, withSeverity(pod("a", name, severity.String()), severity))
		}
		for name, severity := range map[string]verdict.Severity{
			"p0": verdict.OK, "p1": verdict.Progressing, "p2": verdict.Degraded, "p3": verdict.OK,
		} {
			set(name, severity)
		}
		all := openWindow(t, cluster, query.Query{}, "auto", 0, 10)
		filtered := openWindow(t, cluster, query.Query{Text: "ed"}, "auto", 0, 10)
		want := func(allNames, filteredNames string, isWorstFirst bool) {
			t.Helper()
			all.settle()
			filtered.settle()
			if got := all.names(); got != allNames {
				t.Errorf("got rows %s, want %s", got, allNames)
			}
			if got := filtered.names(); got != filteredNames {
				t.Errorf("got filtered rows %s, want %s", got, filteredNames)
			}
			snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
				t.Context(), query.Query{Resource: pods, Sort: "auto", Limit: 10}, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, o := range snapshot.Objects {
				names = append(names, o.Name())
			}
			if got := strings.Join(names, " "); got != allNames || snapshot.IsWorstFirst != isWorstFirst {
				t.Errorf("got snapshot %s, worst first: %t; want %s, %t", got, snapshot.IsWorstFirst, allNames, isWorstFirst)
			}
		}
		want("p0 p1 p2 p3", "p2", false)
		set("p3", verdict.Failed)
		want("p3 p2 p1 p0", "p3 p2", true)
		set("p1", verdict.OK)
		want("p3 p2 p0 p1", "p3 p2", true)
		server.Delete(pods, "a", "p3")
		want("p0 p1 p2", "p2", false)
		set("p9", verdict.Failed)
		want("p9 p2 p0 p1", "p9 p2", true)
	})
}

// A window gets a heartbeat every 15 s. After a change, it gets a newer cursor, even if its filter excludes the object.
// Invariant: I10.
func TestQuietWindowSendsHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Running"))
		p := openWindow(t, cluster, query.Query{Namespaces: []string{"a"}}, "", 0, 1)
		start := time.Now()
		for p.digests == 0 {
			if p.next(); time.Since(start) > 2*time.Minute {
				t.Fatal("got no digest within two minutes")
			}
		}
		start = time.Now()
		first := p.next()
		if first.Type != "heartbeat" || time.Since(start) != stream.Heartbeat {
			t.Errorf("got %+v after %s, want a heartbeat after 15 s", first, time.Since(start))
		}
		server.Set(pods, pod("b", "r", "Failed"))
		start = time.Now()
		m := p.next()
		if m.Type != "window-events" || len(m.Events) != 0 || m.Cursor == first.Cursor ||
			time.Since(start) != stream.Heartbeat {
			t.Errorf("got %+v after %s, want no events and a newer cursor", m, time.Since(start))
		}
		if heartbeat := p.next(); heartbeat.Type != "heartbeat" || heartbeat.Cursor != m.Cursor {
			t.Errorf("got %+v, want a heartbeat with the last cursor", heartbeat)
		}
		advance(10 * time.Second)
		p.move(1, 1)
		start = time.Now()
		if m := p.next(); m.Type != "window" || time.Since(start) != 0 || p.names() != "q" {
			t.Errorf("got %+v after %s, want the moved window without delay", m, time.Since(start))
		}
	})
}

// A client can move a window (a range of rows) to an object. After the move, the window keeps its offset, even if the
// object's row moves.
// Invariant: I11.
func TestWindowMovesToRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for n := range 20 {
			server.Set(pods, pod("a", fmt.Sprintf("p%02d", n), []string{"Running", "Failed"}[n%2]))
		}
		p := openWindow(t, cluster, query.Query{Text: "running"}, "-name", 0, 3)
		p.settle()
		around := func(ns, name string) {
			t.Helper()
			if err := p.window.Move(1, 3, ns, name); err != nil {
				t.Fatal(err)
			}
			p.settle()
		}
		around("a", "p04")
		p.wantNames("p06 p04 p02", 20, 10)
		server.Set(pods, pod("a", "p09", "Running"))
		p.settle()
		if p.wantNames("p08 p06 p04", 20, 11); p.offset != 6 {
			t.Errorf("got offset %d, want 6", p.offset)
		}
		around("a", "p18")
		p.wantNames("p18 p16 p14", 20, 11)
		for _, nowhere := range []string{"p01", "p99"} { // The query does not match p01, and p99 does not exist.
			around("a", nowhere)
			p.wantNames("p16 p14 p12", 20, 11)
		}
	})
}

// A row that is removed because of its own change has the reason gone (deleted or hidden), filtered or moved. A row
// that other rows pushed out of the window has no reason.
// Invariant: I11. A page with a window (a range of sorted rows) behaves like a page with all rows. It removes, counts
// and highlights the same rows, and shows the same messages. The key for the next object opens the same object. If a
// list becomes too long for a page with all rows, the page changes to a window and keeps the scroll position.
func TestRemovedRowsHaveReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.SetColumns(pods, podRowColumns)
		set := func(number, restarts int, status, app string) {
			th := podRow{ns: "a", status: status, app: app, number: number, restarts: restarts}
			server.Set(pods, th.item())
		}
		for n := range 9 {
			set(n, n, "Running", "web")
		}
		p := openWindow(t, cluster, query.Query{Text: "running", Labels: "app=web"}, "restarts", 0, 5)
		p.settle()
		for _, test := range []struct {
			name string
			do   func()
			want string
		}{
			{"deleted", func() { server.Delete(pods, "a", "p-1") }, "p-1 gone"},
			{"changed labels", func() { set(2, 2, "Running", "db") }, "p-2 gone"},
			{"changed text", func() { set(3, 3, "Failed", "web") }, "p-3 filtered, map[1:Failed]"},
			{"moved out of the window", func() { set(4, 99, "Running", "web") }, "p-4 moved, map[2:99]"},
			{"moved within the window", func() { set(0, 7, "Running", "web") }, "p-0 moved"},
			{"pushed out by another row", func() { set(2, 1, "Running", "web") }, "p-8"},
			{"changed without a move", func() { set(2, 2, "Running", "web") }, ""},
			{"replaced with an object with the same name", func() {
				again := podRow{ns: "a", status: "Running", app: "web", number: 2, restarts: 98}
				item := again.item()
				item.UID = "another"
				server.Set(pods, item)
			}, "p-2 gone"},
		} {
			p.removals = nil
			test.do()
			p.settle()
			if got := strings.Join(p.removals, ", "); got != test.want {
				t.Errorf("%s: got %q, want %q", test.name, got, test.want)
			}
		}
	})
}

// If only the counts of errors, warnings and changes differ, they are sent at most once per second.
// Invariant: I11.
func TestWindowSendsOffscreenChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		severities := map[string]verdict.Severity{"Running": verdict.OK, "Pending": verdict.Progressing}
		pod := func(namespace, name, status string) apitest.Item {
			severity, ok := severities[status]
			if !ok {
				severity = verdict.Failed
			}
			return withSeverity(pod(namespace, name, status), severity)
		}
		for n := range 6 {
			server.Set(pods, pod("a", fmt.Sprint("p", n), []string{"Running", "CrashLoopBackOff", "Pending"}[n%3]))
		}
		server.Set(pods, pod("b", "other", "Failed"))
		p := openWindow(t, cluster, query.Query{Namespaces: []string{"a"}, Text: "running"}, "", 0, 1)
		p.settle()
		if p.errors != 2 || p.warnings != 2 || p.changes != 0 || p.newest != "" {
			t.Errorf("got %d errors, %d warnings, %d changes, the newest %q; want 2, 2, 0 and none",
				p.errors, p.warnings, p.changes, p.newest)
		}
		p.wantNames("p0", 6, 2)
		wantChange := func(want string, after time.Duration, changes int) {
			t.Helper()
			p.newest, p.changes = "", 0
			start := time.Now()
			for p.changes == 0 {
				p.next()
			}
			if p.newest != want || time.Since(start) != after || p.changes != changes {
				t.Errorf("after %s and %d changes: got the newest change %q; want %q after %s and %d",
					time.Since(start), p.changes, p.newest, want, after, changes)
			}
		}
		<-time.After(time.Minute)
		p.settle()
		moved := pod("a", "p1", "Error")
		moved.Metadata = `"managedFields":[{"manager":"kubelet","operation":"Update","time":"2026-11-21T10:00:00Z"}]`
		server.Set(pods, moved)
		wantChange("update a/p1 map[1:CrashLoopBackOff] map[1:Error] by kubelet", 0, 1)
		server.Set(pods, pod("a", "p4", "Error"), pod("b", "other", "Running"))
		wantChange("update a/p4 map[1:CrashLoopBackOff] map[1:Error]", time.Second, 1)
		server.Set(pods, pod("a", "p4", "Failed"))
		synctest.Wait()
		server.Set(pods, pod("a", "p9", "Running"))
		wantChange("add a/p9", 0, 2)
		server.Delete(pods, "a", "p9")
		wantChange("delete a/p9", 0, 1)
		server.Set(pods, pod("a", "p5", "Running"))
		wantChange("update a/p5 map[1:Pending] map[1:Running]", 0, 1)
		if p.errors != 2 || p.warnings != 1 {
			t.Errorf("got %d errors and %d warnings, want 2 and 1", p.errors, p.warnings)
		}
		server.Set(pods, pod("b", "other", "Pending"))
		if m := p.next(); m.Changes != 0 || m.Newest != nil {
			t.Errorf("got %+v for a change in another namespace", m)
		}
	})
}

// The server must sort the cases in web/testdata/views.json as the page does, which web/test/views.test.ts tests.
// Invariant: I9.
func TestWindowsSortLikeThePage(t *testing.T) {
	text, err := os.ReadFile("../web/testdata/views.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Columns json.RawMessage
		Rows    []struct {
			NS, Name string
			Severity verdict.Severity
			Cells    json.RawMessage
		}
		Views []struct {
			Q, Sort string
			Want    []string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Views) < 15 {
		t.Fatalf("got %d test views, error %v, want at least 15", len(file.Views), err)
	}
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.SetColumns(pods, string(file.Columns))
		for _, row := range file.Rows {
			item := apitest.Item{Namespace: row.NS, Name: row.Name, Cells: string(row.Cells)}
			server.Set(pods, withSeverity(item, row.Severity))
		}
		for _, view := range file.Views {
			p := openWindow(t, cluster, query.Query{Text: view.Q}, view.Sort, 0, 100)
			p.settle()
			got := make([]string, len(p.rows))
			for i, row := range p.rows {
				got[i] = row.NS + "/" + row.Name
			}
			if !slices.Equal(got, view.Want) || p.total != len(file.Rows) || p.matching != len(got) {
				t.Errorf("q=%q, sort=%q: got %v, want %v", view.Q, view.Sort, got, view.Want)
			}
			for limit := range len(got) + 2 {
				snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(),
					query.Query{Resource: pods, Text: view.Q, Sort: view.Sort, Limit: limit}, 0)
				if err != nil {
					t.Fatal(err)
				}
				first := make([]string, len(snapshot.Objects))
				for i, o := range snapshot.Objects {
					first[i] = o.Namespace() + "/" + o.Name()
				}
				if limit == 0 {
					limit = len(got)
				}
				if !slices.Equal(first, view.Want[:min(limit, len(got))]) || snapshot.Total != len(got) {
					t.Errorf("q=%q, sort=%q: first %d of %d: got %v, want %v",
						view.Q, view.Sort, limit, snapshot.Total, first, view.Want)
				}
			}
		}
	})
}

type podRow struct {
	ns, status, app string
	number          int
	restarts        int // The number of restarts; -1 if unknown.
	age             int
}

func (p *podRow) name() string { return fmt.Sprint("p-", p.number) }

func (p *podRow) created() time.Time {
	return time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(p.age) * time.Second)
}

func (p *podRow) item() apitest.Item {
	restarts := any(p.restarts)
	if p.restarts < 0 {
		restarts = "<none>"
	}
	cells, err := json.Marshal([]any{p.name(), p.status, restarts, "31d"})
	if err != nil {
		panic(err)
	}
	return apitest.Item{
		Namespace: p.ns, Name: p.name(), Cells: string(cells),
		Metadata: fmt.Sprintf(`"labels":{"app":%q},"creationTimestamp":%q`, p.app, p.created().Format(time.RFC3339)),
	}
}

const podRowColumns = `[{"name":"Name","type":"string"},{"name":"Status","type":"string"},` +
	`{"name":"Restarts","type":"integer"},{"name":"Age","type":"string"}]`

type windowQuery struct {
	q    query.Query
	sort string
}

// expected computes the result of the query with simple code. total also counts rows without the words of q.Text.
func (w *windowQuery) expected(state map[string]*podRow) (total int, seen []*podRow) {
	for _, th := range state {
		if len(w.q.Namespaces) > 0 && !slices.Contains(w.q.Namespaces, th.ns) ||
			w.q.Labels != "" && w.q.Labels != "app="+th.app {
			continue
		}
		total++
		text := strings.ToLower(strings.Join([]string{th.ns, th.name(), th.status, strconv.Itoa(th.restarts)}, " "))
		if !slices.ContainsFunc(strings.Fields(strings.ToLower(w.q.Text)),
			func(word string) bool { return !strings.Contains(text, word) }) {
			seen = append(seen, th)
		}
	}
	column, descending := strings.CutPrefix(w.sort, "-")
	slices.SortFunc(seen, func(a, b *podRow) int {
		order := 0
		switch column {
		case "name":
			order = cmp.Compare(a.number, b.number)
		case "status":
			order = cmp.Compare(a.status, b.status)
		case "age":
			order = cmp.Compare(a.age, b.age)
		case "namespace":
			order = cmp.Compare(a.ns, b.ns)
		case "restarts":
			if unknown := cmp.Compare(min(b.restarts, 0), min(a.restarts, 0)); unknown != 0 {
				return unknown
			}
			order = cmp.Compare(a.restarts, b.restarts)
		}
		if descending {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.ns, b.ns), cmp.Compare(a.name(), b.name()))
	})
	return total, seen
}

func (w *windowQuery) want(p *windowClient, state map[string]*podRow) {
	p.t.Helper()
	total, seen := w.expected(state)
	matching := len(seen)
	seen = seen[min(len(seen), p.offset):]
	seen = seen[:min(len(seen), p.count)]
	want, got := make([]string, len(seen)), make([]string, len(p.rows))
	for i, th := range seen {
		restarts := any(th.restarts)
		if th.restarts < 0 {
			restarts = "<none>"
		}
		want[i] = fmt.Sprint(th.ns, []any{th.name(), th.status, restarts, th.created().Format(time.RFC3339)})
	}
	for i, row := range p.rows {
		got[i] = fmt.Sprint(row.NS, row.Cells)
	}
	if !slices.Equal(got, want) || p.total != total || p.matching != matching {
		p.t.Errorf("%+v from %d:\ngot  %d of %d %v\nwant %d of %d %v",
			w, p.offset, p.matching, p.total, got, matching, total, want)
	}
}

func churn(random *rand.Rand, server *apitest.Server, state map[string]*podRow) {
	th := &podRow{
		ns: string(rune('a' + random.IntN(3))), number: random.IntN(120),
		status: []string{"Running", "Pending", "Failed"}[random.IntN(3)],
		app:    []string{"web", "db"}[random.IntN(2)], restarts: random.IntN(6) - 1, age: random.IntN(30),
	}
	key := th.ns + "/" + th.name()
	switch before := state[key]; {
	case before != nil && random.IntN(3) == 0:
		delete(state, key)
		server.Delete(pods, th.ns, th.name())
	case before != nil && random.IntN(2) == 0:
		th.age, th.restarts = before.age, before.restarts
		fallthrough
	default:
		if before != nil {
			th.age = before.age
		}
		state[key] = th
		server.Set(pods, th.item())
	}
}

func randomQuery(random *rand.Rand) windowQuery {
	sorts := []string{
		"", "name", "-name", "status", "-status", "restarts", "-restarts", "age", "-age", "namespace", "-namespace",
	}
	return windowQuery{
		q: query.Query{
			Namespaces: [][]string{nil, {"a"}, {"a", "c"}}[random.IntN(3)],
			Labels:     []string{"", "app=web"}[random.IntN(2)],
			Text:       []string{"", "RUNN", "p-1 ing", "b p-", "nothing-has-it"}[random.IntN(5)],
		},
		sort: sorts[random.IntN(len(sorts))],
	}
}

// Invariant: I9. After any changes, a window (a range of sorted rows) has the rows that a new sort of all current rows
// would put into this range. The server sorts and filters rows by the same rules as the script of the web page. A list
// with a limit contains the first rows in the sort order, and the number of all rows.
func TestWindowsConverge(t *testing.T) {
	for seed := range uint64(25) {
		synctest.Test(t, func(t *testing.T) {
			server, cluster := serveCluster(t)
			server.Set("core/v1/namespaces", apitest.Item{Name: "c"})
			server.SetColumns(pods, podRowColumns)
			random := rand.New(rand.NewPCG(seed, 4)) //nolint:gosec // A fixed seed makes the test reproducible.
			state := make(map[string]*podRow)
			for range 100 {
				churn(random, server, state)
			}
			synctest.Wait()
			queries, panes := make([]windowQuery, 6), make([]*windowClient, 6)
			open := func(n int) {
				if panes[n] != nil {
					panes[n].sub.Close()
				}
				queries[n] = randomQuery(random)
				panes[n] = openWindow(t, cluster, queries[n].q, queries[n].sort, random.IntN(50), 1+random.IntN(40))
			}
			for n := range panes {
				open(n)
			}
			for range 12 {
				for range random.IntN(60) {
					churn(random, server, state)
				}
				switch n := random.IntN(len(panes)); random.IntN(5) {
				case 0:
					open(n)
				case 1, 2:
					panes[n].move(random.IntN(80), 1+random.IntN(40))
				case 3:
					if random.IntN(3) == 0 {
						server.ChangeWhileDown(pods, func() { churn(random, server, state) })
					}
				case 4:
					// In this random (fake) time, the history drops changes, and unused rankings (sorted lists of
					// rows) are dropped.
					<-time.After(time.Duration(random.IntN(600)) * time.Second)
				}
				synctest.Wait()
				for range random.IntN(3) {
					panes[random.IntN(len(panes))].next()
				}
			}
			synctest.Wait()
			<-time.After(time.Minute)
			for n, p := range panes {
				p.settle()
				queries[n].want(p, state)
			}
		})
	}
}

// This test is meant for the race detector.
// Invariant: I9.
func TestConcurrentWindowsConverge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set("core/v1/namespaces", apitest.Item{Name: "c"})
		server.SetColumns(pods, podRowColumns)
		random := rand.New(rand.NewPCG(9, 9)) //nolint:gosec // A fixed seed makes the test reproducible.
		state := make(map[string]*podRow)
		for range 200 {
			churn(random, server, state)
		}
		const readers = 24
		queries := make([]windowQuery, readers)
		panes := make([]*windowClient, readers)
		changed := make(chan struct{})
		var running sync.WaitGroup
		for n := range readers {
			queries[n] = randomQuery(random)
			if n%3 == 1 {
				queries[n] = queries[n-1] // These two readers share one ranking (the sorted rows).
			}
			p := openWindow(t, cluster, queries[n].q, queries[n].sort, 0, 30)
			panes[n] = p
			running.Go(func() {
				for heartbeats := 0; heartbeats < 2; {
					m, err := p.try()
					if err != nil {
						t.Error(err)
						return
					}
					select {
					case <-changed:
						if m.Type == "heartbeat" {
							heartbeats++
						}
					default:
					}
				}
			})
			running.Go(func() {
				own := rand.New(rand.NewPCG(uint64(n), 5)) //nolint:gosec // The test needs no secure numbers.
				for range 20 {
					<-time.After(time.Duration(own.IntN(50)) * time.Millisecond)
					if n%3 > 0 {
						p.move(own.IntN(60), 1+own.IntN(40))
					}
				}
			})
		}
		for range 100 {
			for range 30 {
				churn(random, server, state)
			}
			<-time.After(time.Duration(random.IntN(10)) * time.Millisecond)
		}
		close(changed)
		running.Wait()
		for n, p := range panes {
			queries[n].want(p, state)
		}
	})
}

// If the history drops changes that a window has not read, the window gets the current rows without a reset.
// Invariant: I10.
func TestSlowWindowSkipsHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		p := openWindow(t, cluster, query.Query{}, "", 0, 10)
		p.settle()
		for n := range 5 {
			server.Set(pods, pod("a", fmt.Sprint("q", n), "Running"))
		}
		server.Set(pods, pod("a", "p", "Failed"))
		synctest.Wait()
		advance(6 * time.Minute)
		server.Set(pods, pod("a", "q1", "Failed"))
		synctest.Wait()
		p.wantSettle("insert q0 at 1, insert q1 at 2, insert q2 at 3, insert q3 at 4, insert q4 at 5, update p at 0")
	})
}

// One viewer can have 100 rankings (sorted lists of rows). Unused rankings are dropped to make room.
// Invariant: I10.
func TestRankingsOfViewerAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		const limit = 100
		panes := make([]*windowClient, limit)
		for n := range panes {
			panes[n] = openWindow(t, cluster, query.Query{Text: fmt.Sprint("p", strings.Repeat(" p", n))}, "", 0, 10)
			panes[n].settle()
		}
		again := openWindow(t, cluster, query.Query{Text: "p"}, "", 5, 10)
		again.settle()
		late := openWindow(t, cluster, query.Query{Text: "q"}, "", 0, 10)
		var err error
		for err == nil {
			_, err = late.try()
		}
		wantProblem(t, err, status.Unavailable, "Too many sort orders", "100 lists for you")
		panes[limit-1].sub.Close()
		openWindow(t, cluster, query.Query{Text: "q"}, "", 0, 10).wantSettle("state live, window of 0")
	})
}

// Times computed from printed ages can differ slightly between lists. Such a difference is not a change, and does not
// affect the sort order.
// Invariant: I9.
func TestRecomputedTimesKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.SetColumns(pods, `[{"name":"Name","type":"string"},{"name":"Seen","type":"date"}]`)
		seen := func(name, cell string) apitest.Item {
			return apitest.Item{Namespace: "a", Name: name, Cells: fmt.Sprintf("[%q,%q]", name, cell)}
		}
		server.Set(pods, seen("p", "10m"), seen("q", "20m"), seen("r", "30m"))
		p := openWindow(t, cluster, query.Query{}, "seen", 0, 10)
		p.wantSettle("state live, window of 3")
		<-time.After(time.Hour)
		p.log = nil
		server.Expire(pods)
		p.settle()
		server.Set(pods, seen("p", "25m"))
		p.settle()
		p.wantNames("q p r", 3, 3)
		if q := fmt.Sprint(p.rows[0].Cells[1]); !strings.HasPrefix(q, "2000-01-01T00:4") {
			t.Errorf("last seen of q: got %s, want the time in the list", q)
		}
	})
}

// Invariant: I10.
func TestWindowMessagesAreEncodedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		const rows, each = 300, 3000
		set := func(word string) {
			for n := range rows {
				server.Set(pods, pod("a", fmt.Sprint("p", n), strings.Repeat(word, each/len(word))))
			}
			synctest.Wait()
		}
		set("slow")
		const viewers = 40
		subs := make([]*watch.Subscription, viewers)
		windows := make([]*query.Window, viewers)
		for n := range subs {
			p := openWindow(t, cluster, query.Query{}, "-name", 0, rows)
			subs[n], windows[n] = p.sub, p.window
			readToType(t, p.sub, "window")
		}
		for _, round := range []string{"moved", "moved", "buffers grow", "changed", "changed"} {
			kind := "window"
			if round != "moved" {
				kind = "window-events"
				set([]string{"fast", "late"}[time.Now().Unix()%2])
			}
			bytes := allocatedBy(func() {
				for n, sub := range subs {
					if round == "moved" {
						if err := windows[n].Move(0, rows, "", ""); err != nil {
							t.Fatal(err)
						}
					}
					readToType(t, sub, kind)
				}
			})
			// The race detector drops pooled buffers, so allow 1.5 buffers for each viewer. If the rows were encoded for each
			// viewer, the test would allocate about five times this limit.
			if round != "buffers grow" && bytes > viewers*rows*each*3/2 {
				t.Errorf("%s: allocated %d KiB to send %d viewers %d KiB each",
					round, bytes>>10, viewers, rows*each>>10)
			}
			<-time.After(time.Second)
		}
	})
}

// The watch status includes the memory of a ranking (a sorted list of rows) until 30 s after its last window closed.
// Invariant: I10.
func TestWatchStatusIncludesRankings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for n := range 500 {
			server.Set(pods, pod("a", fmt.Sprint("p", n), "Running"))
		}
		bytes := func() (orderBytes, used, rest int64) {
			status := cluster.WatchStatus()
			for _, c := range status.Entries {
				orderBytes += c.OrderBytes
				rest += c.CacheBytes + c.RingBytes
			}
			return orderBytes, status.UsedBytes, rest
		}
		p := openWindow(t, cluster, query.Query{Text: "p1"}, "name", 0, 10)
		q := openWindow(t, cluster, query.Query{Text: "P1"}, "name", 20, 10)
		p.settle()
		q.settle()
		if orderBytes, used, rest := bytes(); orderBytes != 111*40 || used != orderBytes+rest {
			t.Errorf("order of 111 rows: got %d bytes of %d in use, the rest is %d", orderBytes, used, rest)
		}
		p.sub.Close()
		advance(time.Minute)
		if orderBytes, _, _ := bytes(); orderBytes == 0 {
			t.Error("order of an open window is released")
		}
		q.sub.Close()
		q.sub.Close()
		advance(29 * time.Second)
		again := openWindow(t, cluster, query.Query{Text: "p1"}, "name", 0, 10)
		again.settle()
		advance(29 * time.Second)
		again.sub.Close()
		advance(29 * time.Second)
		if orderBytes, _, _ := bytes(); orderBytes == 0 {
			t.Error("order of a closed window is released without a delay")
		}
		advance(2 * time.Second)
		if orderBytes, _, _ := bytes(); orderBytes != 0 {
			t.Errorf("order without a viewer: got %d bytes, want 0", orderBytes)
		}
	})
}
