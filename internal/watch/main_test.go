package watch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func TestMain(m *testing.M) {
	// Remove client-go's error handlers. The default one sleeps until shortly after the time of its last error. The
	// initial value of this time is from the real clock, years ahead of the fake clock.
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(m)
}

const pods = "core/v1/pods"

// skipIfShort skips a test that takes more than 20 s with the race detector. CI runs all tests without the race
// detector. With the race detector, it runs only the tests that are not skipped (flag -short).
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes too long with the race detector; runs without -short")
	}
}

// advance advances the fake clock, and waits until all other goroutines are blocked.
func advance(duration time.Duration) {
	<-time.After(duration)
	synctest.Wait()
}

func kinds() []apitest.Kind {
	return []apitest.Kind{
		{
			Ref:        pods,
			Kind:       "Pod",
			ShortNames: []string{"po"},
			Columns:    `[{"name":"Name","type":"string"},{"name":"Status","type":"string"}]`,
		},
		{Ref: "core/v1/namespaces", Kind: "Namespace", Cluster: true, Columns: `[{"name":"Name","type":"string"}]`},
	}
}

func pod(namespace, name, status string) apitest.Item {
	return apitest.Item{
		Namespace: namespace,
		Name:      name,
		Cells:     fmt.Sprintf(`[%q,%q]`, name, status),
		Rest:      fmt.Sprintf(`"status":{"phase":%q}`, status),
	}
}

// withSeverity gives a pod a status that leads to a verdict of this severity.
func withSeverity(p apitest.Item, s verdict.Severity) apitest.Item {
	p.Rest = map[verdict.Severity]string{
		verdict.OK:          `"spec":{"nodeName":"n"},"status":{"conditions":[{"type":"Ready","status":"True"}]}`,
		verdict.Progressing: `"status":{"phase":"Pending"}`,
		verdict.Degraded:    `"status":{"phase":"Unknown"}`,
		verdict.Failed:      `"status":{"phase":"Failed"}`,
	}[s]
	return p
}

func labelled(p apitest.Item, app string) apitest.Item {
	p.Metadata = fmt.Sprintf(`"labels":{"app":%q}`, app)
	return p
}

// serveCluster starts a fake API server and a Cluster that watches it. It needs a synctest bubble. The test fails if it
// leaves goroutines, or if the Cluster has sent a request that can modify data.
func serveCluster(t *testing.T) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	server := apitest.New(t, kinds()...)
	for _, ns := range []string{"a", "b"} {
		server.Set("core/v1/namespaces", apitest.Item{Name: ns})
	}
	t.Cleanup(func() {
		for _, line := range server.Requests("") {
			if !strings.HasPrefix(line, "GET ") && line != "POST "+apitest.SelfReviewsPath &&
				line != "POST "+apitest.RulesReviewsPath &&
				line != "POST "+apitest.UserReviewsPath {
				t.Errorf("got a write request: %s", line)
			}
		}
	})
	return server, runCluster(t, server)
}

func runCluster(t *testing.T, server *apitest.Server) *watch.Cluster {
	t.Helper()
	return runClusterWith(
		t, server, watch.Options{Linger: 5 * time.Minute, Log: slog.New(slog.NewTextHandler(t.Output(), nil))},
	)
}

func runClusterWith(t *testing.T, server *apitest.Server, options watch.Options) *watch.Cluster {
	t.Helper()
	cluster, err := watch.New(server.Config, options)
	if err != nil {
		t.Fatal(err)
	}
	apitest.Run(t, cluster.Run)
	synctest.Wait()
	return cluster
}

type message struct {
	Type, State, Reason, Cursor string
	Since                       time.Time
	Count, Total                *int
	Namespaces                  []string
	Columns                     []struct{ Name string }
	Rows                        []messageRow
	Object, Health              json.RawMessage
	Last                        bool
	Events                      []messageEvent
	Digest                      string
}

type messageRow struct {
	NS, Name, UID, RV string
	Cells             []any
}

type messageEvent struct {
	Op, NS, Name, UID, RV string
	Row                   *messageRow
	Cells                 map[string]any
	Patch, Object, Health json.RawMessage
	By                    *struct{ Manager string }
	Authors               json.RawMessage
}

// reader applies the messages of a subscription to its rows, as the web page does. The test fails if a message does not
// fit the rows, for example an update of an unknown row.
type reader struct {
	t       *testing.T
	sub     *watch.Subscription
	rows    map[string]messageRow
	columns []string
	state   string
	reason  string
	since   time.Time
	cursor  string

	namespaces []string

	isComplete  bool
	hasSnapshot bool // The client received a snapshot, so it can compare digests (hashes of all rows).

	checked int

	log []string
}

func subscribe(t *testing.T, cluster *watch.Cluster, q query.Query, cursor string) *reader {
	t.Helper()
	q.Resource = strings.TrimSpace(q.Resource)
	if q.Resource == "" {
		q.Resource = pods
	}
	view := stream.Rows
	if q.Name != "" {
		view = stream.Object
	}
	return subscribeAs(t, cluster.For(watch.Viewer{Program: true}), q, view, cursor)
}

func subscribeAs(t *testing.T, access *watch.Access, q query.Query, view stream.View, cursor string) *reader {
	t.Helper()
	sub, err := access.Subscribe(t.Context(), q, view, cursor)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, sub: sub, rows: make(map[string]messageRow), cursor: cursor, isComplete: cursor != ""}
	t.Cleanup(r.sub.Close)
	return r
}

func (r *reader) next() message {
	r.t.Helper()
	m, err := r.try()
	if err != nil {
		r.t.Fatalf("Next: got error %v after the messages %s", err, r.log)
	}
	return m
}

func (r *reader) try() (m message, err error) {
	r.t.Helper()
	text, err := r.sub.Next(r.t.Context())
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal([]byte("{"+string(text)+"}"), &m); err != nil {
		r.t.Fatalf("decode message %s: %v", text, err)
	}
	if m.Cursor != "" {
		r.cursor = m.Cursor
	}
	switch m.Type {
	case "state":
		r.state, r.reason, r.since, r.namespaces = m.State, m.Reason, m.Since, m.Namespaces
		if m.State != "syncing" { // "syncing" is not noted, because it is repeated with each new object count.
			r.note("state %s", m.State)
		}
	case "reset":
		r.rows, r.isComplete = make(map[string]messageRow), false
		r.note("reset")
	case "snapshot":
		r.snapshot(&m)
	case "events":
		for i := range m.Events {
			r.event(&m.Events[i])
		}
	case "heartbeat":
		r.note("heartbeat")
	case "digest":
		r.check(&m)
	default:
		r.t.Fatalf("unknown message type: %s", text)
	}
	return m, nil
}

func (r *reader) note(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *reader) snapshot(m *message) {
	r.t.Helper()
	if r.isComplete {
		r.t.Errorf("got a second snapshot without a reset")
	}
	if m.Columns != nil {
		r.columns = nil
		for _, c := range m.Columns {
			r.columns = append(r.columns, c.Name)
		}
	}
	for _, row := range m.Rows {
		r.rows[row.NS+"/"+row.Name] = row
	}
	r.isComplete, r.hasSnapshot = m.Last, true
	if m.Last {
		r.note("snapshot of %d", len(r.rows))
	}
}

func (r *reader) event(e *messageEvent) {
	r.t.Helper()
	if !r.isComplete {
		r.t.Errorf("got event %s before the snapshot", e.Op)
	}
	if e.Op == "add" && e.Row != nil {
		e.NS, e.Name, e.UID = e.Row.NS, e.Row.Name, e.Row.UID
	}
	key := e.NS + "/" + e.Name
	row, has := r.rows[key]
	switch {
	case e.Object != nil || e.Patch != nil || e.Name == "": // An event of the Object view changes no row.
	case e.Op == "add" && has, e.Op != "add" && !has, e.Op != "add" && row.UID != e.UID:
		r.t.Errorf("event %s of %s (uid %s) does not match the reader's row %+v", e.Op, key, e.UID, row)
	case e.Op == "add":
		r.rows[key] = *e.Row
	case e.Op == "delete":
		delete(r.rows, key)
	case e.Op == "update":
		row.RV, row.Cells = e.RV, slices.Clone(row.Cells)
		for at, cell := range e.Cells {
			var i int
			if _, err := fmt.Sscan(at, &i); err != nil || i >= len(row.Cells) {
				r.t.Fatalf("cell index %q is out of range, the row has %d cells", at, len(row.Cells))
			}
			row.Cells[i] = cell
		}
		r.rows[key] = row
	}
	r.note("%s", strings.TrimSuffix(e.Op+" "+key, " /"))
}

func (r *reader) check(m *message) {
	r.t.Helper()
	if !r.hasSnapshot {
		return
	}
	rows := make(map[string]livetest.Row, len(r.rows))
	for key, row := range r.rows {
		rows[key] = livetest.Row{RV: row.RV}
	}
	if got := livetest.Digest(rows); m.Count == nil || *m.Count != len(rows) || m.Digest != got {
		r.t.Errorf("digest does not match the %d rows of the reader, %s: got %+v", len(r.rows), got, m)
	}
	r.checked++
}

// settle reads messages until a heartbeat or a message without events. It returns short descriptions of the messages
// since the last call.
func (r *reader) settle() string {
	r.t.Helper()
	for start := time.Now(); ; {
		if time.Since(start) > 10*time.Minute {
			r.t.Fatalf("messages do not stop within 10 minutes: %.300s", strings.Join(r.log, ", "))
		}
		if m := r.next(); m.Type == "heartbeat" || m.Type == "events" && len(m.Events) == 0 {
			log := strings.TrimSuffix(strings.Join(r.log, ", "), "heartbeat")
			r.log = nil
			synctest.Wait()
			return strings.TrimSuffix(log, ", ")
		}
	}
}

func (r *reader) wantSettle(want string) {
	r.t.Helper()
	if got := r.settle(); got != want {
		r.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func (r *reader) wantRows(want ...string) {
	r.t.Helper()
	got := make([]string, 0, len(r.rows))
	for _, key := range slices.Sorted(maps.Keys(r.rows)) {
		got = append(got, fmt.Sprint(key, "=", r.rows[key].Cells[len(r.rows[key].Cells)-1]))
	}
	if a, b := strings.Join(got, " "), strings.Join(want, " "); a != b {
		r.t.Errorf("got rows %s, want %s", a, b)
	}
}

func wantProblem(t *testing.T, err error, cause status.Cause, title, detail string) {
	t.Helper()
	p, ok := errors.AsType[*status.Problem](err)
	if !ok || p.Cause != cause || p.Title != title || !strings.Contains(p.Detail, detail) {
		t.Errorf("got error %v, want the problem %s with %q", err, title, detail)
	}
}

func (r *reader) wantLive(rows int) {
	r.t.Helper()
	if r.state != "live" || len(r.rows) != rows {
		r.t.Errorf("got state %s (%s) with %d rows, want live with %d", r.state, r.reason, len(r.rows), rows)
	}
}
