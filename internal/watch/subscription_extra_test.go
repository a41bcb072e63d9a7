package watch_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// managedEntry returns an entry of managedFields. The manager owns a field of the specification, or of the part of the
// object that follows the name of the manager after a space.
func managedEntry(by string, at time.Time) string {
	manager, part, _ := strings.Cut(by, " ")
	subresource := ""
	if part == "status" {
		subresource = part
	}
	return fmt.Sprintf(
		`{"manager":%q,"operation":"Update","subresource":%q,"time":%q,"fieldsV1":{"f:%s":{"f:x":{}}}}`,
		manager, subresource, at.UTC().Format(time.RFC3339), cmp.Or(part, "spec"))
}

// specWrite is a write by one manager, as in managedEntry, in seconds after the start of the test. A write by
// "-manager" removes the entry of the manager.
type specWrite struct {
	by     string
	second int
}

// specWriter writes versions of one object, with their managedFields.
type specWriter struct {
	server  *apitest.Server
	start   time.Time
	entries map[string]string // The entries of managedFields, by specWrite.by.
	values  map[string]int    // The value of each part of the object.
}

func (s *specWriter) write(writes []specWrite) {
	for n, w := range writes {
		_, part, _ := strings.Cut(w.by, " ")
		part = cmp.Or(part, "spec")
		if by, ok := strings.CutPrefix(w.by, "-"); ok {
			delete(s.entries, by)
		} else {
			s.entries[w.by] = managedEntry(w.by, s.start.Add(time.Duration(w.second)*time.Second))
		}
		s.values[part] += n + 1
		p := apitest.Item{Namespace: "a", Name: "p"}
		p.Rest = fmt.Sprintf(`"spec":{"x":%d},"status":{"x":%d}`, s.values["spec"], s.values["status"])
		p.Metadata = fmt.Sprintf(`"labels":{"x":"%d"},"managedFields":[%s]`, s.values["metadata"],
			strings.Join(slices.Sorted(maps.Values(s.entries)), ","))
		s.server.Set(deployments, p)
	}
}

// lastChange returns the cell "Last change" of the only row in the next message of a type, and whether the message
// contains the cell.
func lastChange(t *testing.T, sub *watch.Subscription, kind string) (cell string, ok bool) {
	t.Helper()
	type row struct{ Extra []string }
	for {
		text, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Type   string
			Rows   []row
			Table  struct{ Extra [][]string }
			Events []row
		}
		if err := json.Unmarshal([]byte("{"+string(text)+"}"), &m); err != nil {
			t.Fatalf("got message %s, error %v", text, err)
		}
		if m.Type != kind {
			continue
		}
		for _, r := range append(m.Rows, m.Events...) {
			return strings.Join(r.Extra, ","), r.Extra != nil
		}
		if len(m.Table.Extra) == 1 && len(m.Table.Extra[0]) == 1 {
			return m.Table.Extra[0][0], true
		}
		return "", false
	}
}

// A row contains the last change of the specification by a person or a deployment tool. With the updates that follow, a
// client has the same cell as in a new snapshot.
//
// Invariant: I3.
func TestRowsContainTheLastChange(t *testing.T) {
	for _, test := range []struct {
		name   string
		before []specWrite
		writes []specWrite
		want   string
	}{
		{"spec", nil, []specWrite{{"kubectl-edit", 10}}, "10 kubectl-edit"},
		{"spec by a component", nil, []specWrite{{"kube-controller-manager", 10}}, ""},
		{"status", []specWrite{{"helm", 1}}, []specWrite{{"operator status", 10}}, "1 helm"},
		{"metadata", []specWrite{{"helm", 1}}, []specWrite{{"kubectl-label metadata", 10}}, "1 helm"},
		{"spec, then status", nil, []specWrite{{"kubectl-edit", 10}, {"operator status", 11}}, "10 kubectl-edit"},
		{
			"spec, then status within one second",
			[]specWrite{{"helm", 1}},
			[]specWrite{{"kubectl-edit", 10}, {"operator status", 10}},
			"10 kubectl-edit",
		},
		{
			"author who gives up the fields",
			[]specWrite{{"helm", 1}, {"kubectl-edit", 5}},
			[]specWrite{{"-kubectl-edit", 10}},
			"1 helm",
		},
		{"the only author gives up the fields", []specWrite{{"helm", 1}}, []specWrite{{"-helm", 10}}, ""},
		{"two changes of the spec", nil, []specWrite{{"helm", 10}, {"kubectl-edit", 11}}, "11 kubectl-edit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(t, causeKinds()...)
				cluster := runCluster(t, server)
				writer := specWriter{server, time.Now(), map[string]string{}, map[string]int{}}
				server.Set(deployments, apitest.Item{Namespace: "a", Name: "p"})
				advance(10 * time.Second)
				writer.write(test.before)
				want := ""
				if second, by, ok := strings.Cut(test.want, " "); ok {
					after, _ := time.ParseDuration(second + "s")
					want = writer.start.Add(after).UTC().Format(time.RFC3339) + " ago by " + by
				}
				open := func(view stream.View) *watch.Subscription {
					q := query.Query{Resource: deployments}
					if view == stream.Windowed {
						q.Window, _ = query.NewWindow("", 0, 10)
					}
					sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), q, view, "")
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(sub.Close)
					return sub
				}
				first := map[stream.View]string{stream.Rows: "snapshot", stream.Table: "snapshot", stream.Windowed: "window"}
				next := map[stream.View]string{
					stream.Rows: "events", stream.Table: "events", stream.Windowed: "window-events",
				}
				subs, cells := make(map[stream.View]*watch.Subscription), make(map[stream.View]string)
				for view, kind := range first {
					subs[view] = open(view)
					cells[view], _ = lastChange(t, subs[view], kind)
				}
				writer.write(test.writes)
				synctest.Wait()
				for view, kind := range next {
					if cell, ok := lastChange(t, subs[view], kind); ok {
						cells[view] = cell
					}
					if cells[view] != want {
						t.Errorf("view %s: got %q, want %q", view, cells[view], want)
					}
				}
				now, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
					t.Context(), query.Query{Resource: deployments}, time.Minute,
				)
				if err != nil {
					t.Fatal(err)
				}
				var extra []string
				_ = json.Unmarshal(compact.Extra(now.Objects[0]), &extra)
				if got := strings.Join(extra, ""); got != want {
					t.Errorf("in a new snapshot: got %q, want %q", got, want)
				}
			})
		})
	}
}

// Guests do not see who last changed an object before their visit: not in rows, and not from the order of the rows.
//
// Invariant: I30.
func TestGuestsGetNoExtraColumns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, causeKinds()...)
		cluster := runCluster(t, server)
		writer := specWriter{server, time.Now(), map[string]string{}, map[string]int{}}
		writer.write([]specWrite{{"CANARY", 1}})
		guest := cluster.For(watch.Viewer{
			Program: true, Scope: &watch.Scope{Parts: []watch.Part{{Resource: deployments}}},
		})
		open := func(access *watch.Access, view stream.View) (sub *watch.Subscription) {
			q := query.Query{Resource: deployments}
			if view == stream.Windowed {
				q.Window, _ = query.NewWindow("", 0, 10)
			}
			sub, err := access.Subscribe(t.Context(), q, view, "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(sub.Close)
			return sub
		}
		var subs []*watch.Subscription
		check := func(sub *watch.Subscription, forbidden string, until ...string) {
			t.Helper()
			if text, _ := readUntil(t, sub, until...); strings.Contains(text, forbidden) {
				t.Errorf("a guest got %s, want no %s", text, forbidden)
			}
		}
		for view, kind := range map[stream.View]string{
			stream.Rows: "snapshot", stream.Windowed: "window",
		} {
			// The same list of a viewer with all permissions must not be shared with the guest.
			all, _ := readUntil(t, open(cluster.For(watch.Viewer{Program: true}), view), kind)
			if !strings.Contains(all, "CANARY") {
				t.Errorf("the program got %s, want the last change", all)
			}
			sub := open(guest, view)
			check(sub, "extra", kind)
			subs = append(subs, sub)
		}
		writer.write([]specWrite{{"CANARY", 5}})
		for _, sub := range subs {
			check(sub, "extra", "events", "window-events") // The member "by" has the author of a change during the visit.
		}
		server.Set(deployments, apitest.Item{
			Namespace: "a", Name: "q",
			Metadata: `"managedFields":[` + managedEntry("helm", writer.start.Add(8*time.Second)) + "]",
		})
		synctest.Wait()
		for _, test := range []struct {
			name   string
			access *watch.Access
			want   string
		}{{"program", cluster.For(watch.Viewer{Program: true}), "q p"}, {"guest", guest, "p q"}} {
			q := query.Query{Resource: deployments, Sort: "last change"}
			list, err := test.access.Snapshot(t.Context(), q, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, o := range list.Objects {
				names = append(names, o.Name())
			}
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("%s, sorted by the last change: got %s, want %s", test.name, got, test.want)
			}
		}
	})
}
