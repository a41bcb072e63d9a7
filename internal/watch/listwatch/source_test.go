package listwatch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	nameColumn = `{"name":"Name","type":"string","format":"name","description":"Name must be unique. More of it.",` +
		`"priority":0}`
	ageColumn = `{"name":"Age","type":"string","priority":0}`
)

func column(name string) string { return fmt.Sprintf(`{"name":%q,"type":"string","priority":0}`, name) }

func dateColumn(name string) string {
	return fmt.Sprintf(`{"name":%q,"type":"date","priority":0}`, name)
}

func newSource(t *testing.T, server *apitest.Server, ref string, options listwatch.SourceOptions) *listwatch.Source {
	t.Helper()
	parts := strings.Split(strings.TrimPrefix(ref, "core"), "/")
	if options.Observe == nil {
		options.Observe = func(int, int64) {}
	}
	if options.Stalled == nil {
		options.Stalled = func() { t.Error("Stalled was called") }
	}
	if options.Panicked == nil {
		options.Panicked = func(v any, _ []byte) { t.Errorf("unexpected panic: %v", v) }
	}
	if options.Stall == 0 {
		options.Stall = time.Hour
	}
	s, err := listwatch.NewClient(server.Config, listwatch.ClientOptions{}).Source(listwatch.Scope{
		Resource: schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]},
	}, options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func listAll(t *testing.T, s *listwatch.Source) []*compact.Object {
	t.Helper()
	list, err := s.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func streamingListOptions() metav1.ListOptions {
	yes := true
	return metav1.ListOptions{
		SendInitialEvents: &yes, AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	}
}

func openWatch(t *testing.T, s *listwatch.Source, options metav1.ListOptions) apiwatch.Interface {
	t.Helper()
	w, err := s.Watch(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func nextEvent(t *testing.T, w apiwatch.Interface) apiwatch.Event {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		if !ok {
			t.Fatal("the watch ended, want an event")
		}
		return e
	case <-time.After(time.Minute):
		t.Fatal("got no event within a minute")
	}
	return apiwatch.Event{}
}

func objectOf(t *testing.T, e apiwatch.Event) *compact.Object {
	t.Helper()
	if v, ok := e.Object.(*compact.Version); ok {
		return v.Object
	}
	o, ok := e.Object.(*compact.Object)
	if !ok {
		t.Fatalf("got %s with %T %+v, want an Object", e.Type, e.Object, e.Object)
	}
	return o
}

// TestElapsedTimesInCellsBecomeTimestamps uses the fake time of synctest, which starts at 2000-01-01 00:00:00 UTC.
func TestElapsedTimesInCellsBecomeTimestamps(t *testing.T) {
	tests := []struct {
		name         string
		ref          string
		columns      string
		dates        map[string]string
		item         apitest.Item
		want         string
		wantRelative []bool
	}{
		{
			name: "age from the creation time", ref: "core/v1/pods", columns: nameColumn + "," + ageColumn,
			item: apitest.Item{Cells: `["web","5m"]`, Metadata: `"creationTimestamp":"1999-12-31T23:54:59Z"`},
			want: `["web","1999-12-31T23:54:59Z"]`, wantRelative: []bool{false, true},
		},
		{
			name: "age without a creation time is computed from the cell", ref: "core/v1/pods", columns: ageColumn,
			item: apitest.Item{Cells: `["2d3h"]`, Metadata: `"creationTimestamp":null`},
			want: `["1999-12-29T21:00:00Z"]`, wantRelative: []bool{true},
		},
		{
			name: "unknown age is kept", ref: "core/v1/pods", columns: ageColumn,
			item: apitest.Item{Cells: `["<unknown>"]`}, want: `["<unknown>"]`, wantRelative: []bool{true},
		},
		{
			name: "restarts of several containers, printed time", ref: "core/v1/pods", columns: column("Restarts"),
			item: apitest.Item{
				Cells: `["3 (5m2s ago)"]`,
				Rest: `"status":{"containerStatuses":[
					{"lastState":{"terminated":{"finishedAt":"1999-12-31T22:00:00Z"}}},
					{"lastState":{}},
					{"lastState":{"terminated":{"finishedAt":"1999-12-31T23:54:58Z"}}},
					{"lastState":{"terminated":{"finishedAt":"1999-12-31T23:59:58Z"}}}]}`,
			},
			want: `["3 (1999-12-31T23:54:58Z ago)"]`, wantRelative: []bool{true},
		},
		{
			name: "restarts of an init container", ref: "core/v1/pods", columns: column("Restarts"),
			item: apitest.Item{
				Cells: `["1 (3m ago)"]`,
				Rest: `"status":{"initContainerStatuses":[{"lastState":{"terminated":{"finishedAt":"1999-12-31T23:` +
					`57:00Z"}}}]}`,
			},
			want: `["1 (1999-12-31T23:57:00Z ago)"]`, wantRelative: []bool{true},
		},
		{
			name: "no restarts", ref: "core/v1/pods", columns: column("Restarts"),
			item: apitest.Item{Cells: `["0"]`}, want: `["0"]`, wantRelative: []bool{true},
		},
		{
			name: "restarts of another kind are text", ref: "apps/v1/pods", columns: column("Restarts"),
			item: apitest.Item{Cells: `["3 (5m ago)"]`}, want: `["3 (5m ago)"]`, wantRelative: []bool{false},
		},
		{
			name: "last seen of an event", ref: "core/v1/events", columns: column("Last Seen"),
			item: apitest.Item{
				Cells: `["10m"]`,
				Rest: `"lastTimestamp":"1999-12-31T23:50:00Z","firstTimestamp":"1999-12-31T20:50:00Z",` +
					`"eventTime":null`,
			},
			want: `["1999-12-31T23:50:00Z"]`, wantRelative: []bool{true},
		},
		{
			name: "event series takes precedence", ref: "events.k8s.io/v1/events", columns: column("Last Seen"),
			item: apitest.Item{
				Cells: `["10m"]`,
				Rest: `"series":{"count":4,"lastObservedTime":"1999-12-31T23:49:59.123456Z"},` +
					`"eventTime":"1999-12-31T20:50:00.5Z"`,
			},
			want: `["1999-12-31T23:49:59Z"]`, wantRelative: []bool{true},
		},
		{
			name: "a CRD's date column with a path", ref: "example.com/v1/backups", columns: dateColumn("Last Run"),
			dates: map[string]string{"Last Run": "status.lastRun"},
			item:  apitest.Item{Cells: `["33h"]`, Rest: `"status":{"lastRun":"1999-12-30T14:59:58Z"}`},
			want:  `["1999-12-30T14:59:58Z"]`, wantRelative: []bool{true},
		},
		{
			name: "a CRD's date column without a path", ref: "example.com/v1/backups", columns: dateColumn("Last Run"),
			item: apitest.Item{Cells: `["33h"]`, Rest: `"status":{"lastRun":"1999-12-30T14:59:58Z"}`},
			want: `["1999-12-30T15:00:00Z"]`, wantRelative: []bool{true},
		},
		{
			name: "a CRD's date column with an invalid date", ref: "example.com/v1/backups", columns: dateColumn("Last Run"),
			dates: map[string]string{"Last Run": "status.lastRun"},
			item:  apitest.Item{Cells: `["1h"]`, Rest: `"status":{"lastRun":["x",{}]}`},
			want:  `["1999-12-31T23:00:00Z"]`, wantRelative: []bool{true},
		},
		{
			name: "running job", ref: "batch/v1/jobs", columns: column("Duration"),
			item: apitest.Item{Cells: `["8m20s"]`, Rest: `"status":{"startTime":"1999-12-31T23:51:40Z"}`},
			want: `["1999-12-31T23:51:40Z"]`, wantRelative: []bool{true},
		},
		{
			name: "finished job", ref: "batch/v1/jobs", columns: column("Duration"),
			item: apitest.Item{
				Cells: `["8m20s"]`,
				Rest:  `"status":{"startTime":"1999-12-31T20:00:00Z","completionTime":"1999-12-31T20:08:20Z"}`,
			},
			want: `["8m20s"]`, wantRelative: []bool{true},
		},
		{
			name: "HTML escapes are decoded", ref: "core/v1/pods", columns: column("Node") + "," + column("Status"),
			item: apitest.Item{Cells: `["\u003cnone\u003e","a\u0026b \"c\" \u001b"]`},
			want: `["<none>","a&b \"c\" \u001b"]`, wantRelative: []bool{false, false},
		},
		{
			name: "every type of cell", ref: "core/v1/pods",
			columns: column("A") + "," + column("B") + "," + column("C") + "," + column("D") + "," + column("E"),
			item:    apitest.Item{Cells: `[ 1 , true,null, {"a":"\u003c"} ,[1,2]]`},
			want:    `[1,true,null,{"a":"\u003c"},[1,2]]`, wantRelative: []bool{false, false, false, false, false},
		},
		{
			name: "more cells than columns, as an IPAddress has", ref: "core/v1/pods", columns: ageColumn,
			item: apitest.Item{Cells: `["1h","5m",["x"]]`}, want: `["1999-12-31T23:00:00Z"]`,
			wantRelative: []bool{true},
		},
		{
			name: "more cells than columns, and an extra column", ref: "networking.k8s.io/v1/ipaddresses", columns: ageColumn,
			item: apitest.Item{Cells: `["1h","5m",["x"]]`}, want: `["1999-12-31T23:00:00Z"]`,
			wantRelative: []bool{true},
		},
		{
			name: "server without Table support", ref: "metrics.k8s.io/v1/pods",
			item: apitest.Item{Metadata: `"creationTimestamp":"1999-12-31T23:54:59Z"`},
			want: `["web","1999-12-31T23:54:59Z"]`, wantRelative: []bool{false, true},
		},
		{
			name: "server without Table support, no creation time", ref: "metrics.k8s.io/v1/pods",
			item: apitest.Item{
				Metadata: `"creationTimestamp":null`,
			}, want: `["web",""]`, wantRelative: []bool{false, true},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				columns := test.columns
				if columns != "" {
					columns = "[" + columns + "]"
				}
				server := apitest.New(t, apitest.Kind{Ref: test.ref, Kind: "Thing", Columns: columns})
				test.item.Namespace, test.item.Name = "big", "web"
				server.Set(test.ref, test.item)
				for sourceName, read := range map[string]func(*listwatch.Source) *compact.Object{
					"list": func(s *listwatch.Source) *compact.Object { return listAll(t, s)[0] },
					"stream": func(s *listwatch.Source) *compact.Object {
						return objectOf(t, nextEvent(t, openWatch(t, s, streamingListOptions())))
					},
					"watch": func(s *listwatch.Source) *compact.Object {
						return objectOf(t, nextEvent(t, openWatch(t, s, metav1.ListOptions{ResourceVersion: "1"})))
					},
				} {
					s := newSource(t, server, test.ref, listwatch.SourceOptions{})
					s.SetPrinterColumns(printer.CRDColumns{Dates: test.dates})
					o := read(s)
					if got := string(o.Cells()); got != test.want {
						t.Errorf("%s: got cells %s, want %s", sourceName, got, test.want)
					}
					var relative []bool
					for _, c := range printer.Printed(s.Columns()) {
						relative = append(relative, c.Relative)
					}
					if got, want := fmt.Sprint(relative), fmt.Sprint(test.wantRelative); got != want {
						t.Errorf("%s: got relative columns %s, want %s", sourceName, got, want)
					}
				}
			})
		})
	}
}

func TestElapsedTextIsComputedFromTimestamps(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		cell     string
		relative bool
		want     string
	}{
		{"1999-12-31T23:54:00Z", true, "6m"},
		{"3 (1999-12-31T22:00:00Z ago)", true, "3 (120m ago)"},
		{"1999-12-31T23:54:00Z", false, "1999-12-31T23:54:00Z"},
		{"1999-99-99T23:54:00Z", true, "1999-99-99T23:54:00Z"},
		{"<none>", true, "<none>"},
	} {
		t.Run(test.cell, func(t *testing.T) {
			c := printer.Column{Relative: test.relative}
			if got := c.ElapsedText(test.cell, now); got != test.want {
				t.Errorf("ElapsedText(%q), relative %t: got %q, want %q", test.cell, test.relative, got, test.want)
			}
		})
	}
}

func TestOnlyPathsOfMembersAreSimple(t *testing.T) {
	for _, test := range []struct {
		path, want string
		simple     bool
	}{
		{".status.lastRun", "status.lastRun", true},
		{"{.status.lastRun}", "status.lastRun", true},
		{".status.conditions[?(@.type=='Ready')].lastTransitionTime", "", false},
		{`.metadata.annotations.example\.com/at`, "", false},
		{"", "", false},
		{".a..b", "", false},
	} {
		t.Run(test.path, func(t *testing.T) {
			got, simple := printer.SimplePath(test.path)
			if simple != test.simple || simple && got != test.want {
				t.Errorf("SimplePath(%q): got %q, %t; want %q, %t", test.path, got, simple, test.want, test.simple)
			}
		})
	}
}

// An Object contains no managedFields and no last-applied annotation.
func TestObjectOmitsManagedFieldsAndLastApplied(t *testing.T) {
	const managed = `"managedFields":[{"manager":"kubectl","operation":"Apply","time":"2026-11-21T10:00:05Z"},` +
		`{"manager":"scheduler","time":"2026-11-21T10:00:01Z"}]`
	item := apitest.Item{
		Namespace: "big", Name: "web-1", UID: "u1",
		Metadata: `"creationTimestamp":"2026-11-21T09:59:58Z","labels":{"app":"web"},` +
			`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}CANARY","team":"a"},` + managed,
		Rest: `"spec":{"note":"\u003cnone\u003e"}`,
	}
	server := apitest.New(t, apitest.Kind{Ref: "core/v1/pods", Kind: "Pod", Columns: "[" + nameColumn + "]"})
	server.Set("core/v1/pods", item)
	s := newSource(t, server, "core/v1/pods", listwatch.SourceOptions{})
	listed := listAll(t, s)[0]
	watched := objectOf(t, nextEvent(t, openWatch(t, s, metav1.ListOptions{ResourceVersion: "1"})))

	for _, o := range []*compact.Object{listed, watched} {
		got := fmt.Sprint(
			o.Namespace(), " ", o.Name(), " ", o.UID(), " ", o.ResourceVersion(), " ", o.Created(), " ",
			o.ManagedTime(), " ", o.Labels().Value(),
		)
		if want := `big web-1 u1 101 2026-11-21 09:59:58 +0000 UTC 2026-11-21 10:00:05 +0000 UTC ` +
			`{"app":"web"}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		text, err := o.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(text), `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1",`+
			`"namespace":"big","uid":"u1","resourceVersion":"101",`+
			`"creationTimestamp":"2026-11-21T09:59:58Z","labels":{"app":"web"},"annotations":{"team":"a"}},`+
			`"spec":{"note":"\u003cnone\u003e"}}`; got != want {
			t.Errorf("JSON: got\n%s\nwant\n%s", got, want)
		}
		row := string(o.AppendRow(nil, true))
		if want := `{"ns":"big","name":"web-1","uid":"u1","rv":"101","created":"2026-11-21T09:59:58Z",` +
			`"verdict":{"severity":"failed","reason":"Pending","sentence":"Waiting to be scheduled"},` +
			`"cells":["web-1"]}`; row != want {
			t.Errorf("AppendRow: got\n%s\nwant\n%s", row, want)
		}
	}
	if got := s.Columns()[0].Description; got != "Name must be unique" {
		t.Errorf("description: got %q, want its first sentence", got)
	}
}

func TestRowOfUnusualNames(t *testing.T) {
	server := apitest.New(t, apitest.Kind{Ref: "example.com/v1/things", Kind: "Thing", Cluster: true})
	s := newSource(t, server, "example.com/v1/things", listwatch.SourceOptions{})
	w := openWatch(t, s, metav1.ListOptions{ResourceVersion: "100"})
	server.Send(
		"example.com/v1/things",
		`{"type":"ADDED","object":{"metadata":{"name":"a\"b\\\u0007\u2028","uid":"\"","labels":"x"}}}`+"\n",
	)
	row := objectOf(t, nextEvent(t, w)).AppendRow(nil, true)
	var got struct {
		NS      *string
		Name    string
		UID     string
		Created string
	}
	if err := json.Unmarshal(row, &got); err != nil {
		t.Fatalf("decode row %s: %v", row, err)
	}
	if got.NS == nil || *got.NS != "" || got.Name != "a\"b\\\u0007\u2028" || got.UID != `"` || got.Created != "" {
		t.Errorf("AppendRow: got %s", row)
	}
}

// Invariant: I15.
func TestSecretsAreMasked(t *testing.T) {
	server := apitest.New(t, apitest.Kind{Ref: "core/v1/secrets", Kind: "Secret", Columns: "[" + nameColumn + "]"})
	secret := func(value string) apitest.Item {
		return apitest.Item{
			Namespace: "a", Name: "s", UID: "u", Rest: fmt.Sprintf(`"data":{"password":%q},"type":"Opaque"`, value),
		}
	}
	server.Set("core/v1/secrets", secret("CANARY1"))
	s := newSource(t, server, "core/v1/secrets", listwatch.SourceOptions{})
	w := openWatch(t, s, streamingListOptions())
	server.Set("core/v1/secrets", secret("CANARY2"))
	for i, want := range []string{"(masked)", "", "(masked, change 1)"} {
		e := nextEvent(t, w)
		if i == 1 {
			continue
		}
		text, err := objectOf(t, e).JSON()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"data":{"password":"`+want+`"}`) ||
			strings.Contains(string(text), "CANARY") {
			t.Errorf("event %d: got %s, want the value %q", i, text, want)
		}
	}
}

func TestGetMasksSecretValues(t *testing.T) {
	server := apitest.New(t, apitest.Kind{Ref: "core/v1/secrets", Kind: "Secret", Columns: "[" + nameColumn + "]"})
	server.Set(
		"core/v1/secrets",
		apitest.Item{
			Namespace: "a", Name: "s", Metadata: `"managedFields":[{"manager":"CANARY"}]`,
			Rest: `"data":{"x":"CANARY"}`,
		},
	)
	text, err := listwatch.NewClient(server.Config, listwatch.ClientOptions{}).Get(
		t.Context(), schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, "a", "s",
	)
	if want := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"a","uid":"a/s",` +
		`"resourceVersion":"101"},"data":{"x":"(masked)"}}`; err != nil || string(text) != want {
		t.Errorf("got %s, error %v\nwant %s", text, err, want)
	}
}
