package watch_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// In a message, "by" is the newest author. If there are several, "authors" lists the operations of each one.
func TestObjectUpdatesNameEachAuthor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // The fake clock starts on 2000-01-01.
		server, cluster := serveCluster(t)
		set := func(app, status string, second int, managers ...string) {
			p := managedBy(pod("a", "p", status), second, managers...)
			if app != "" {
				p.Metadata += fmt.Sprintf(`,"labels":{"app":%q}`, app)
			}
			server.Set(pods, p)
		}
		set("web", "Pending", 1, "helm", labels, "kubelet", phase)
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "p"}, "")
		r.settle() // This call takes 15 s of fake time.
		wantUpdate := func(description, patch, by, authors string) {
			t.Helper()
			m := r.next()
			for len(m.Events) == 0 {
				m = r.next()
			}
			e := m.Events[0]
			var ops []struct{ Op, Path string }
			if err := json.Unmarshal(e.Patch, &ops); err != nil {
				t.Fatal(err)
			}
			var got, author []string
			for _, op := range ops {
				got = append(got, op.Op+" "+op.Path)
			}
			if e.By != nil {
				author = append(author, e.By.Manager)
			}
			if fmt.Sprint(got) != patch || strings.Join(author, "") != by || string(e.Authors) != authors {
				t.Errorf("%s: got %s by %s, authors %s\nwant %s by %s, authors %s",
					description, got, author, e.Authors, patch, by, authors)
			}
		}
		const version = "replace /metadata/resourceVersion"
		set("web", "Running", 15, "helm", labels, "kubelet", phase)
		wantUpdate("kubelet update", "["+version+" replace /status/phase]", "kubelet", "")
		set("web", "Failed", 15, "helm", labels, "kubelet", phase)
		wantUpdate("kubelet update within the same second", "["+version+" replace /status/phase]", "kubelet", "")
		set("", "Failed", 16, "kubelet", phase)
		wantUpdate("helm removes its label without a managedFields entry", "[remove /metadata/labels "+version+"]", "", "")
		set("", "Failed", 16, "kubelet", phase, "helm", "{}")
		wantUpdate("helm updates only the time", "["+version+"]", "helm", "")

		// Both writes happen before the reader calls Next, so they are combined into one update.
		set("db", "Failed", 18, "helm", labels, "kubelet", "{}")
		set("db", "Running", 18, "helm", labels, "kubelet", phase)
		synctest.Wait()
		wantUpdate("merged changes", "[add /metadata/labels "+version+" replace /status/phase]", "kubelet",
			`[{"manager":"kubelet","operation":"Update","time":"2000-01-01T00:00:19Z","ops":[1,2]},`+
				`{"manager":"helm","operation":"Update","time":"2000-01-01T00:00:18Z","ops":[0]}]`)

		server.ChangeWhileDown(pods, func() { set("x", "Running", 20, "helm", labels, "kubelet", phase) })
		wantUpdate("change found by a list", "[replace /metadata/labels/app "+version+"]", "", "")
	})
}

// The author is the manager of the newest managedFields entry. If the entry's time is unchanged, or several entries
// have this time, the author is the owner of the changed field.
func TestRowUpdatesNameTheAuthor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, managedBy(pod("a", "p", "Pending"), 1, "helm", labels, "kubelet", phase))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		at := func(p apitest.Item, helm, kubelet int) apitest.Item {
			p.Metadata = fmt.Sprintf(`"managedFields":[`+
				`{"manager":"kubelet","operation":"Update","time":"2000-01-01T00:00:%02dZ","fieldsV1":%s},`+
				`{"manager":"helm","operation":"Update","time":"2000-01-01T00:00:%02dZ","fieldsV1":%s}]`,
				kubelet, phase, helm, labels)
			return p
		}
		for _, step := range []struct {
			status        string
			helm, kubelet int
			want          string
		}{
			{"Running", 2, 15, "kubelet"},
			{"Failed", 15, 15, "kubelet"}, // Both entries have the newest time.
			{"Running", 16, 15, "helm"},   // Helm's entry is the newest, but helm does not own the field.
			{"Failed", 16, 15, "kubelet"}, // helm's time is the newest, but did not change. The kubelet owns the field.
			{"Running", 16, 17, "kubelet"},
			{"Failed", 16, 17, "kubelet"}, // The kubelet wrote twice within the same second.
		} {
			server.Set(pods, at(pod("a", "p", step.status), step.helm, step.kubelet))
			if e := r.next().Events; len(e) != 1 || e[0].By == nil || e[0].By.Manager != step.want {
				t.Errorf("%+v: got update %+v", step, e)
			}
		}
		deleted := at(pod("a", "p", "Failed"), 18, 17)
		server.Set(pods, deleted)
		r.next()
		deleted.Cells = strings.Replace(deleted.Cells, "Failed", "Terminating", 1)
		deleted.Metadata += `,"deletionTimestamp":"2000-01-01T00:00:18Z"`
		server.Set(pods, deleted)
		if e := r.next().Events; len(e) != 1 || e[0].By != nil {
			t.Errorf("delete in the same second as helm's label: got update %+v, want no author", e)
		}
	})
}

// An update that combines changes of several managers has no author. Managers that changed no cell do not count.
// Invariant: I3.
func TestRowAuthorOfFoldedChanges(t *testing.T) {
	const before = -60
	type write struct {
		status        string
		helm, kubelet int // The time of each manager's last write, in seconds from now.
		metadata      string
	}
	const web, deleted = `,"labels":{"app":"web"}`, `,"deletionTimestamp":"2000-01-01T00:00:20Z"`
	for _, tt := range []struct {
		name   string
		writes []write
		want   string
	}{
		{"two managers, different seconds", []write{{"Running", 0, before, ""}, {"Failed", 0, 1, ""}}, ""},
		{"two managers, same second", []write{{"Running", 0, before, ""}, {"Failed", 0, 0, ""}}, ""},
		{"one manager, different seconds", []write{{"Running", before, 0, ""}, {"Failed", before, 1, ""}}, "kubelet"},
		{"one manager twice, same second", []write{{"Running", before, 0, ""}, {"Failed", before, 0, ""}}, "kubelet"},
		{"one manager, another without a change", []write{{"Failed", before, 0, ""}, {"Failed", 1, 0, web}}, "kubelet"},
		{"one manager and an unknown one", []write{{"Running", before, 0, ""}, {"Terminating", before, 0, deleted}}, ""},
		{"one manager, many writes", slices.Repeat([]write{{"Running", before, 0, ""}, {"Failed", before, 1, ""}}, 10), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(pods, pod("a", "p", "Pending"))
				rows, window := subscribe(t, cluster, query.Query{}, ""), openWindow(t, cluster, query.Query{}, "", 0, 10)
				rows.settle()
				window.settle()
				at := func(second int) string {
					return time.Now().Add(time.Duration(second) * time.Second).UTC().Format(time.RFC3339)
				}
				for _, w := range tt.writes {
					p := pod("a", "p", w.status)
					if w.metadata == deleted {
						p.Rest = pod("a", "p", "Running").Rest // Keep the rest: only cells and metadata change.
					}
					p.Metadata = fmt.Sprintf(`"managedFields":[`+
						`{"manager":"helm","operation":"Update","time":%q,"fieldsV1":%s},`+
						`{"manager":"kubelet","operation":"Update","time":%q,"fieldsV1":%s}]`,
						at(w.helm), labels, at(w.kubelet), phase) + w.metadata
					server.Set(pods, p)
				}
				synctest.Wait()
				rowAuthor := "nothing"
				if e := rows.next().Events; len(e) == 1 {
					rowAuthor = ""
					if e[0].By != nil {
						rowAuthor = e[0].By.Manager
					}
				}
				window.newest = ""
				window.next()
				_, newestAuthor, _ := strings.Cut(window.newest, " by ")
				if windowAuthor := strings.Join(window.by, " "); rowAuthor != tt.want || windowAuthor != tt.want ||
					newestAuthor != tt.want {
					t.Errorf("author in rows: got %q, in the window: %q, in the latest change: %q (%s); want %q",
						rowAuthor, windowAuthor, newestAuthor, window.newest, tt.want)
				}
			})
		})
	}
}

// The recorded watch events are from a real API server.
func TestEventMessagesAreSmall(t *testing.T) {
	text, err := os.ReadFile("testdata/pod-table.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	var first struct {
		Object struct{ ColumnDefinitions json.RawMessage }
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, apitest.Kind{Ref: pods, Kind: "Pod", Columns: string(first.Object.ColumnDefinitions)})
		cluster := runCluster(t, server)
		open := func(q query.Query, view stream.View) *watch.Subscription {
			q.Resource = pods
			sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), q, view, "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(sub.Close)
			return sub
		}
		next := func(sub *watch.Subscription, kind string) string {
			for {
				message, err := sub.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(message), `"type":"`+kind+`"`) {
					return `{"id":1,` + string(message) + "}"
				}
			}
		}
		rows, table := open(query.Query{}, stream.Rows), open(query.Query{}, stream.Table)
		object := open(query.Query{Namespaces: []string{"default"}, Name: "checkout-99bc5f5b6-vxqmm"}, stream.Object)
		feed := open(query.Query{}, stream.Changes)
		for _, sub := range []*watch.Subscription{rows, table, object, feed} {
			next(sub, "snapshot")
		}
		const header = 4 // The length in bytes of the header of a WebSocket frame up to 64 KiB.
		for n, line := range lines {
			if n == len(lines)-1 {
				line += "\n"
			}
			server.Send(pods, line)
			row, short, patch, change := next(rows, "events"), next(table, "events"), next(object, "events"),
				next(feed, "events")
			t.Logf("event %d of %d bytes: sent %d to rows, %d to table, %d to object, %d to changes",
				n, len(line), len(row)+header, len(short)+header, len(patch)+header, len(change)+header)
			if n < 2 {
				if strings.Contains(row+short+patch, `"by"`) {
					t.Errorf("event %d without a managedFields entry has an author:\n%s\n%s\n%s",
						n, row, short, patch)
				}
				continue
			}
			if strings.Count(row+patch+change,
				`"by":{"manager":"kubelet","operation":"Update","subresource":"status","time":`) != 3 ||
				strings.Contains(patch, "authors") {
				t.Errorf("author is not only the kubelet:\n%s\n%s\n%s", row, patch, change)
			}
			if !strings.Contains(short, `"by":["kubelet","Update","status","20`) || strings.Contains(short, `"uid"`) {
				t.Errorf("table event: want the kubelet as author and no uid, got %s", short)
			}
			if n < len(lines)-1 {
				continue
			}
			// Each of these three limits includes 90 bytes for the new verdict of the pod.
			if len(row)+header > 320+90 {
				t.Errorf("Rows view: got %d bytes, want at most 410: %s", len(row)+header, row)
			}
			if len(short)+header > 240+90 {
				t.Errorf("Table view: got %d bytes, want at most 330: %s", len(short)+header, short)
			}
			if len(patch)+header > 1024+90 {
				t.Errorf("Object view: got %d bytes, want at most 1,114: %s", len(patch)+header, patch)
			}
		}
	})
}

// Two versions of an object can have different texts, but the same resourceVersion. Readers get the second as a change,
// so that later patches apply.
// Invariant: I4.
func TestChangedTextOfSameVersionIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		p := pod("a", "p", "Running")
		p.Rest = `"spec":{"size":1}`
		server.Set(pods, p)
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "p"}, "")
		var copied []byte
		read := func() {
			for m := r.next(); m.Type != "heartbeat"; m = r.next() {
				if m.Type == "snapshot" {
					copied = m.Object
				}
				for _, e := range m.Events {
					patch, err := jsonpatch.DecodePatch(e.Patch)
					if err == nil {
						copied, err = patch.Apply(copied)
					}
					if err != nil {
						t.Fatalf("apply patch %s: %v", e.Patch, err)
					}
				}
			}
		}
		read()
		server.ChangeWhileDown(pods, func() { server.SetRest(pods, "a", "p", `"spec":{"size":1,"policy":"Always"}`) })
		<-time.After(90 * time.Second)
		read()
		p.Rest = `"spec":{"size":2,"policy":"Always"}`
		server.Set(pods, p)
		read()
		if current, err := cluster.For(watch.Viewer{Program: true}).Object(t.Context(), pods, "a", "p"); err != nil ||
			!jsonpatch.Equal(current, copied) {
			t.Errorf("state %s: the object is %s (error %v)\nthe reader's copy is %s", r.state, current, err, copied)
		}
	})
}
