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

// An update names the author of a change of the specification, also if it combines this change with others. Changes by
// controllers do not count.
//
// Invariant: I3.
func TestUpdatesNameTheAuthorOfTheSpecification(t *testing.T) {
	for _, test := range []struct {
		name   string
		before []specWrite
		writes []specWrite
		want   string
	}{
		{"spec", nil, []specWrite{{"kubectl-edit", 10}}, "kubectl-edit"},
		{"spec by a component", nil, []specWrite{{"kube-controller-manager", 10}}, ""},
		{"status", []specWrite{{"helm", 1}}, []specWrite{{"operator status", 10}}, ""},
		{"metadata", []specWrite{{"helm", 1}}, []specWrite{{"kubectl-label metadata", 10}}, ""},
		{"spec, then status", nil, []specWrite{{"kubectl-edit", 10}, {"operator status", 11}}, "kubectl-edit"},
		{
			"spec, then status within one second", nil,
			[]specWrite{{"kubectl-edit", 10}, {"operator status", 10}},
			"kubectl-edit",
		},
		{
			"status, then spec within one second",
			[]specWrite{{"operator status", 10}},
			[]specWrite{{"kubectl-edit", 10}},
			"kubectl-edit",
		},
		{
			"status within one second after the spec",
			[]specWrite{{"kubectl-edit", 10}},
			[]specWrite{{"operator status", 10}},
			"",
		},
		{
			"author who gives up the fields",
			[]specWrite{{"helm", 1}, {"kubectl-edit", 5}},
			[]specWrite{{"-kubectl-edit", 10}},
			"",
		},
		{
			"component within one second after a person", []specWrite{{"kubectl-edit", 10}}, []specWrite{{"kwok", 10}}, "",
		},
		{"two changes of the spec", nil, []specWrite{{"helm", 10}, {"kubectl-edit", 11}}, "kubectl-edit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(t, causeKinds()...)
				cluster := runCluster(t, server)
				writer := specWriter{server, time.Now(), map[string]string{}, map[string]int{}}
				server.Set(deployments, apitest.Item{Namespace: "a", Name: "p"})
				advance(10 * time.Second)
				writer.write(test.before)
				open := func(view stream.View) *watch.Subscription {
					access := cluster.For(watch.Viewer{Program: true})
					sub, err := access.Subscribe(t.Context(), query.Query{Resource: deployments}, view, "")
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(sub.Close)
					readUntil(t, sub, "snapshot")
					return sub
				}
				rows, table := open(stream.Rows), open(stream.Table)
				writer.write(test.writes)
				synctest.Wait()
				if got := specAuthor[struct{ Manager string }](t, rows).Manager; got != test.want {
					t.Errorf("view rows: got %q, want %q", got, test.want)
				}
				if got := specAuthor[[2]string](t, table)[0]; got != test.want {
					t.Errorf("view table: got %q, want %q", got, test.want)
				}
			})
		})
	}
}

// specAuthor returns the member specBy of the next event.
func specAuthor[A any](t *testing.T, sub *watch.Subscription) A {
	t.Helper()
	for {
		text, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Type   string
			Events []struct{ SpecBy A }
		}
		err = json.Unmarshal([]byte("{"+string(text)+"}"), &m)
		switch {
		case err != nil || len(m.Events) > 1:
			t.Fatalf("got message %s, error %v, want one event", text, err)
		case m.Type == "events" && len(m.Events) == 1:
			return m.Events[0].SpecBy
		}
	}
}
