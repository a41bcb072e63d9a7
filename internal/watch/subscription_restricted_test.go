package watch_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"

	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// restrictedViewers may see the object a/p, but not all objects of its resource.
func restrictedViewers() map[string]watch.Viewer {
	const events = "core/v1/events"
	return map[string]watch.Viewer{
		"user, namespace":  user("ann"),
		"user, name":       user("named"),
		"guest, namespace": sharedWith(watch.Part{Resource: pods, Namespaces: []string{"a"}}),
		"guest, labels":    sharedWith(watch.Part{Resource: pods, Labels: "app=web"}),
		"guest, name":      sharedWith(watch.Part{Resource: pods, Namespaces: []string{"a"}, Name: "p"}),
		"guest, text":      sharedWith(watch.Part{Resource: pods, Text: "state"}),
		"guest, events":    sharedWith(watch.Part{Resource: events, Regarding: "pod/web"}),
		"guest of a user":  {User: user("ann").User, Scope: &watch.Scope{Parts: []watch.Part{{Resource: pods}}}},
	}
}

type hiddenFixture struct {
	server  *apitest.Server
	cluster *watch.Cluster
	ref     string
}

const historyAge = 2 * time.Minute

func newHiddenFixture(t *testing.T, viewer string) *hiddenFixture {
	t.Helper()
	server := apitest.New(t, kinds()...)
	server.Set("core/v1/namespaces", apitest.Item{Name: "a"}, apitest.Item{Name: "b"})
	options := watch.Options{
		Linger: 5 * time.Minute, Ring: informer.Ring{Age: historyAge}, Log: slog.New(slog.DiscardHandler),
	}
	cluster := runClusterWith(t, server, options)
	h := &hiddenFixture{server: server, cluster: cluster, ref: pods}
	if viewer == "guest, events" {
		h.ref = "core/v1/events"
		const columns = `[{"name":"Name","type":"string"},{"name":"Object","type":"string"},` +
			`{"name":"Message","type":"string"}]`
		server.AddKind(apitest.Kind{Ref: h.ref, Kind: "Event", Columns: columns})
		advance(3 * time.Second)
	}
	server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
		attributes := spec.ResourceAttributes
		return spec.User == "ann" && attributes.Namespace == "a" || spec.User == "named" && attributes.Name == "p"
	})
	h.set("0")
	h.changeHidden(viewer, 0)
	program := cluster.For(watch.Viewer{Program: true})
	r := subscribeAs(t, program, query.Query{Resource: h.ref}, stream.Rows, "")
	r.settle()
	return h
}

func (h *hiddenFixture) set(state string) {
	h.server.Set(h.ref, h.item("a", "p", "state-"+state, "web"))
}

func (h *hiddenFixture) changeHidden(viewer string, n int) {
	namespaces := []string{"b"}
	if !strings.Contains(viewer, "namespace") && viewer != "guest of a user" {
		namespaces = append(namespaces, "a") // This viewer sees only some objects of namespace a.
	}
	for _, ns := range namespaces {
		h.server.Set(h.ref, h.item(ns, "hidden", fmt.Sprint("secret-", n), "db"))
		h.server.Set(h.ref, h.item(ns, fmt.Sprint("hidden-", n), "secret", "db"))
		h.server.Delete(h.ref, ns, fmt.Sprint("hidden-", n))
	}
}

func (h *hiddenFixture) item(namespace, name, state, app string) apitest.Item {
	item := labelled(pod(namespace, name, state), app)
	if h.ref != pods {
		about := "pod/other"
		if app == "web" {
			about = "pod/web"
		}
		item.Cells = fmt.Sprintf(`[%q,%q,%q]`, name, about, state)
	}
	return item
}

// transcript records the messages of a subscription with their times. It numbers cursors in order of occurrence.
type transcript struct {
	t       *testing.T
	cursors []string
	text    strings.Builder
}

func (r *transcript) record(at time.Duration, message []byte) {
	r.t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte("{"+string(message)+"}"), &members); err != nil {
		r.t.Fatal(err)
	}
	if cursor, ok := members["cursor"].(string); ok && cursor != "" {
		repeats := members["type"] == "heartbeat" || members["type"] == "digest"
		n := slices.Index(r.cursors, cursor)
		if repeats != (n >= 0) || repeats && n != len(r.cursors)-1 {
			r.t.Errorf("message %s: got cursor %d of %d; want the last one for a heartbeat or digest, a new one otherwise",
				members["type"], n, len(r.cursors))
		}
		if raw, err := base64.RawURLEncoding.DecodeString(cursor); err != nil || len(raw) != 41 {
			r.t.Errorf("cursor %q: want 41 bytes of base64, got error %v", cursor, err)
		}
		if n < 0 {
			n, r.cursors = len(r.cursors), append(r.cursors, cursor)
		}
		members["cursor"] = n
	}
	text, err := json.Marshal(members)
	if err != nil {
		r.t.Fatal(err)
	}
	fmt.Fprintf(&r.text, "%s %s\n", at, text)
}

// Invariant: S24. Hidden changes affect neither the messages of a restricted reader nor their times, even after the
// reader resubscribes.
// Invariant: I18.
func TestHiddenChangesAreInvisible(t *testing.T) {
	views := []stream.View{stream.Rows, stream.Table, stream.Windowed, stream.Changes, stream.Object}
	for name, viewer := range restrictedViewers() {
		for _, view := range views {
			for _, every := range []time.Duration{0, time.Second} {
				t.Run(fmt.Sprint(name, ", ", view, ", every ", every), func(t *testing.T) {
					t.Parallel()
					got := make(map[bool]string)
					for _, busy := range []bool{false, true} {
						synctest.Test(t, func(t *testing.T) {
							got[busy] = transcribe(t, name, viewer, view, every, busy)
						})
					}
					if got[true] != got[false] {
						t.Errorf("messages with hidden changes:\n%s\nmessages without:\n%s",
							firstDifference(got[true], got[false]), firstDifference(got[false], got[true]))
					}
				})
			}
		}
	}
}

func firstDifference(text, other string) string {
	lines, others := strings.Split(text, "\n"), strings.Split(other, "\n")
	at := 0
	for at < min(len(lines), len(others))-1 && lines[at] == others[at] {
		at++
	}
	return strings.Join(lines[max(0, at-2):min(len(lines), at+3)], "\n")
}

// transcribe records the messages of a view for almost 3 minutes. In this time, cursors become too old to resume from.
func transcribe(
	t *testing.T, name string, viewer watch.Viewer, view stream.View, every time.Duration, busy bool,
) string {
	t.Helper()
	h := newHiddenFixture(t, name)
	access := h.cluster.For(viewer)
	q := query.Query{Resource: h.ref, Every: every}
	if view == stream.Object || name == "user, name" {
		q.Namespaces, q.Name = []string{"a"}, "p"
	}
	if name == "user, name" && (view == stream.Rows || view == stream.Table || view == stream.Windowed) {
		return ""
	}
	r := &transcript{t: t}
	began := time.Now()
	ended := make(chan struct{})
	go func() { // Every 20 s, make two visible changes with hidden changes around them.
		defer close(ended)
		for n := range 3 * 60 * 4 {
			// Make changes often in this period, so that a digest (a hash of the rows) is due during a pause between
			// messages.
			often := n >= 400 && n < 520
			if busy && (n%80 < 16 || n%8 == 0 || often) {
				h.changeHidden(name, n+1)
			}
			if !often && n%80 == 7 || often && n%5 == 0 {
				h.set(strconv.Itoa(n))
			}
			<-time.After(90 * time.Millisecond)
			if busy && often {
				h.changeHidden(name, -n) // Change a hidden object between a visible change and the digest.
			}
			if !often && n%80 == 7 {
				h.set(fmt.Sprint(n, "-again"))
			}
			<-time.After(160 * time.Millisecond)
		}
	}()
	last := func() string { return r.cursors[len(r.cursors)-1] }
	follow := func(cursor string, from, until time.Duration) {
		<-time.After(from - time.Since(began))
		if view == stream.Windowed {
			window, err := query.NewWindow("", 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			q.Window = window
		}
		sub, err := access.Subscribe(t.Context(), q, view, cursor)
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		for time.Since(began) < until {
			message, err := sub.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r.record(time.Since(began), message)
		}
	}
	follow("", 0, 40*time.Second)
	dropped := last()
	// Resume three times: at once, after a visible change, and after hidden changes.
	follow(dropped, 55*time.Second, 65*time.Second)
	old := last()
	follow(old, 81*time.Second, 139*time.Second)
	follow(last(), 0, 141*time.Second)
	if view != stream.Windowed && strings.Contains(r.text.String(), `"reset"`) {
		t.Errorf("cursor of the last minute: got a reset: %s", r.text.String())
	}
	// Resume from the cursors old and dropped. Both are older than one minute, and therefore too old.
	follow(old, 145*time.Second, 150*time.Second)
	follow(dropped, 168*time.Second, 172*time.Second)
	<-ended
	text := r.text.String()
	if view != stream.Windowed && (strings.Count(text, notResumed) != 2 || strings.Count(text, `"reset"`) != 2) {
		t.Errorf("old cursors: want two resets with the usual reason, got %s", text)
	}
	if !strings.Contains(text, "7-again") || strings.Contains(text, "hidden") || strings.Contains(text, "secret") {
		t.Errorf("want only visible objects, got %s", text)
	}
	return maskVersions(text)
}

// maskVersions removes resourceVersions, and the digests that include them. All objects share one version counter,
// which unavoidably reveals hidden writes.
func maskVersions(text string) string {
	const patched = `"path":"/metadata/resourceVersion","value":"`
	for _, part := range []string{`"resourceVersion":"`, `"rv":"`, `"digest":"`, patched} {
		pieces := strings.Split(text, part)
		for n := 1; n < len(pieces); n++ {
			pieces[n] = pieces[n][strings.IndexByte(pieces[n], '"'):]
		}
		text = strings.Join(pieces, part)
	}
	text = regexp.MustCompile(`"rv":\[[^]]*\]`).ReplaceAllString(text, `"rv":[]`)
	return oldVersion.ReplaceAllString(text, `"$1":""`)
}

const notResumed = "you are not allowed to see all objects of this resource, so a cursor is valid for at most " +
	"one minute"

// Without visible changes, the reader receives only a new cursor, even if hidden objects changed.
// Invariant: S24. Within a minute, a restricted reader resumes with exactly the visible changes that it missed.
// Later, it receives a reset.
func TestRestrictedReadersResume(t *testing.T) {
	views := []stream.View{stream.Rows, stream.Table, stream.Changes, stream.Object}
	for name, viewer := range restrictedViewers() {
		for _, view := range views {
			q := query.Query{Resource: pods}
			switch {
			case name == "guest, events":
				q.Resource = "core/v1/events"
			case name == "user, name" && (view == stream.Rows || view == stream.Table):
				continue
			}
			if view == stream.Object || name == "user, name" {
				q.Namespaces, q.Name = []string{"a"}, "p"
			}
			for duration, connected := range map[string]time.Duration{
				"connected for 1 s": 0, "connected for 10 minutes": 10 * time.Minute,
			} {
				t.Run(fmt.Sprint(name, ", ", view, ", ", duration), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						h := newHiddenFixture(t, name)
						c := &client{t: t, access: h.cluster.For(viewer), query: q, view: view}
						c.connect(connected + time.Second)
						h.wantResumes(c, name)
					})
				})
			}
		}
	}
}

func (h *hiddenFixture) wantResumes(c *client, name string) {
	c.t.Helper()
	advance(10 * time.Second)
	h.changeHidden(name, 1)
	h.set("1")
	h.changeHidden(name, 2)
	advance(time.Second)
	c.wantConnect("reconnect after an update", "state events update")

	h.changeHidden(name, 3)
	h.server.Delete(h.ref, "a", "p")
	advance(10 * time.Second)
	h.changeHidden(name, 4)
	c.wantConnect("reconnect after a delete", "state events delete")

	h.changeHidden(name, 5)
	h.set("2")
	h.changeHidden(name, 6)
	advance(time.Second)
	c.wantConnect("reconnect after an add", "state events add")

	for range 5 { // Each connection gets a new cursor, even if it ends in less than a minute.
		advance(20 * time.Second)
		if got := c.connect(16 * time.Second); strings.Contains(got, "reset") {
			c.t.Errorf("reconnect without changes: got %q, want no reset", got)
		}
	}
	before := c.cursor
	advance(28 * time.Second)
	c.wantConnect("reconnect without changes", "state")
	h.changeHidden(name, 7)
	advance(28 * time.Second)
	c.wantConnect("reconnect after hidden changes", "state")
	c.cursor = before[1:] + "A"
	const reset = "reset state snapshot"
	c.wantConnect("reconnect with an invalid cursor", reset)
	advance(time.Minute)
	c.wantConnect("reconnect a minute later", reset)
	advance(59 * time.Second)
	h.changeHidden(name, 8)
	advance(time.Second)
	c.wantConnect("reconnect a minute later, after hidden changes", reset)
	advance(59 * time.Second)
	h.set("3")
	advance(time.Second)
	c.wantConnect("reconnect a minute later, after an update", reset)
}

// Invariant: S24. If a restricted reader (which may not see all objects) cannot resume, it receives the same messages
// for every cause.
func TestRestrictedResetsAreEqual(t *testing.T) {
	const viewerName = "user, namespace"
	for name, invalidate := range map[string]func(h *hiddenFixture, c *client){
		"malformed":           func(_ *hiddenFixture, c *client) { c.cursor = "!" },
		"truncated":           func(_ *hiddenFixture, c *client) { c.cursor = c.cursor[:20] },
		"from another filter": func(_ *hiddenFixture, c *client) { c.query.Labels = "app=web" },
		"from another epoch":  func(h *hiddenFixture, _ *client) { h.cluster.Informer(pods).Faults().ResetReaders() },
		"no longer in the history": func(h *hiddenFixture, _ *client) {
			h.changeHidden(viewerName, 1)
			synctest.Wait()
			h.cluster.Informer(pods).Forget()
		},
		"older than allowed": func(*hiddenFixture, *client) { advance(time.Minute) },
	} {
		for _, view := range []stream.View{stream.Rows, stream.Changes} {
			t.Run(fmt.Sprint(name, ", ", view), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHiddenFixture(t, viewerName)
					c := &client{
						t: t, access: h.cluster.For(restrictedViewers()[viewerName]), query: query.Query{Resource: pods}, view: view,
					}
					c.connect(time.Second)
					invalidate(h, c)
					c.wantConnect("reconnect, cursor "+name, "reset state snapshot")
				})
			})
		}
	}
}

// While a namespace is not watched, its changes are missed. Afterwards, a reader of the view Rows can resume. A reader
// of the view Changes cannot, because this view must send every change.
func TestRestrictedReadersDoNotResumeAfterGap(t *testing.T) {
	for view, want := range map[stream.View]string{
		stream.Changes: "reset state snapshot", stream.Rows: "state events delete",
	} {
		t.Run(string(view), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(pods, pod("a", "p", "Running"))
				allowOnly(server, "a", "b")
				allow(server, "ann list pods a", "ann watch pods a")
				subscribe(t, cluster, query.Query{}, "").settle() // Keeps both namespaces watched.
				c := &client{t: t, access: cluster.For(user("ann")), query: query.Query{Resource: pods}, view: view}
				c.connect(time.Second)
				faults, restore := cluster.Informer(pods).Faults(), func() {}
				faults.DeleteRows("a", func() { restore = faults.Uncover("a") })
				restore()
				c.wantConnect("reconnect after a gap", want)
			})
		})
	}
}

type client struct {
	t      *testing.T
	access *watch.Access
	query  query.Query
	view   stream.View
	cursor string
}

func (c *client) wantConnect(when, want string) {
	c.t.Helper()
	if got := c.connect(time.Second); got != want {
		c.t.Errorf("%s: got %q, want %q", when, got, want)
	}
}

func (c *client) connect(duration time.Duration) string {
	c.t.Helper()
	sub, err := c.access.Subscribe(c.t.Context(), c.query, c.view, c.cursor)
	if err != nil {
		c.t.Fatal(err)
	}
	defer sub.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), duration)
	defer cancel()
	var got []string
	for {
		text, err := sub.Next(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			all := strings.Join(got, " ")
			return strings.ReplaceAll(strings.ReplaceAll(all, " events digest", ""), " digest", "")
		}
		if err != nil {
			c.t.Fatal(err)
		}
		var m message
		if err := json.Unmarshal([]byte("{"+string(text)+"}"), &m); err != nil {
			c.t.Fatal(err)
		}
		if bytes.Contains(text, []byte("hidden")) || bytes.Contains(text, []byte("secret")) {
			c.t.Errorf("got a message with hidden objects: %s", text)
		}
		if m.Type == "reset" && m.Reason != notResumed {
			c.t.Errorf("reason of the reset: got %q", m.Reason)
		}
		c.cursor = cmp.Or(m.Cursor, c.cursor)
		got = append(got, m.Type)
		for _, e := range m.Events {
			if m.Type == "events" {
				got = append(got, e.Op)
			}
		}
	}
}

// Hidden objects change in half of 200 rounds. A client that compares two responses guesses right only by chance.
// Invariant: S24. Repeated requests of a restricted reader do not reveal whether hidden objects changed between them.
// Invariant: I18.
func TestPollingRevealsNoHiddenChange(t *testing.T) {
	const rounds = 200
	for name, viewer := range restrictedViewers() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHiddenFixture(t, name)
				access := h.cluster.For(viewer)
				cursors, lengths := make(map[string]bool), make(map[int]bool)
				poll := func() (cursor, rest string) {
					q := query.Query{Resource: h.ref}
					if name == "user, name" {
						q.Namespaces, q.Name = []string{"a"}, "p"
					}
					var sub *watch.Subscription
					if name == "user, name" { // Subscribe, because a list does not accept a name.
						var err error
						if sub, err = access.Subscribe(t.Context(), q, stream.Object, ""); err != nil {
							t.Fatal(err)
						}
						defer sub.Close()
						all, last := readUntil(t, sub, "snapshot")
						cursor, rest = last.Cursor, strings.ReplaceAll(all, last.Cursor, "")
					} else {
						s, err := access.Snapshot(t.Context(), q, time.Second)
						if err != nil {
							t.Fatal(err)
						}
						cursor, rest = s.Cursor, fmt.Sprintf("%+v %d %v", s.Status, s.Total, keysOf(s))
					}
					if cursors[cursor] {
						t.Errorf("snapshot cursor is repeated")
					}
					cursors[cursor], lengths[len(cursor)] = true, true
					byRef := func(a, b *resource.Resource) int { return strings.Compare(a.Ref(), b.Ref()) }
					found, err := access.Search(t.Context(), watch.SearchQuery{Text: "hidden p", Limit: 10}, byRef)
					if err != nil {
						t.Fatal(err)
					}
					known, _, err := access.Resources().List(t.Context(), 0)
					if err != nil {
						t.Fatal(err)
					}
					for n := range known {
						if known[n].Count != nil || known[n].Status != nil {
							t.Errorf("Resources: got a count or status of %s, want none", known[n].Ref())
						}
					}
					counts, _ := access.Resources().Counts(t.Context())
					status := access.WatchStatus(t.Context())
					return cursor, fmt.Sprint(rest, found.Total, len(found.Hits), counts, status)
				}
				byCursor, byRest := 0, 0
				for round := range rounds {
					changes := round%2 == 1
					cursor, rest := poll()
					if changes {
						h.changeHidden(name, round)
					}
					advance(time.Second)
					later, restLater := poll()
					if (cursor != later) == changes {
						byCursor++
					}
					if (rest != restLater) == changes {
						byRest++
					}
				}
				if byCursor != rounds/2 || byRest != rounds/2 || len(lengths) != 1 {
					t.Errorf("of %d guesses, %d are correct from the cursor and %d from the other data, want %d; cursors have the "+
						"lengths %v",
						rounds, byCursor, byRest, rounds/2, slices.Collect(maps.Keys(lengths)))
				}
				t.Logf("got %d of %d correct guesses from the cursor, %d from the other data", byCursor, rounds, byRest)
			})
		})
	}
}
