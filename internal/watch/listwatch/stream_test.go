package listwatch_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

const pods = "core/v1/pods"

func podServer(t *testing.T) *apitest.Server {
	t.Helper()
	return apitest.New(t, apitest.Kind{Ref: pods, Kind: "Pod", Columns: "[" + nameColumn + "," + ageColumn + "]"})
}

func TestStreamingListContinuesAsWatch(t *testing.T) {
	server := podServer(t)
	server.Set(pods, apitest.Item{Namespace: "a", Name: "p1"}, apitest.Item{Namespace: "a", Name: "p2"})
	var observed []int
	s := newSource(
		t, server, pods, listwatch.SourceOptions{Observe: func(n int, _ int64) { observed = append(observed, n) }},
	)
	w := openWatch(t, s, streamingListOptions())
	var got []string
	read := func() {
		e := nextEvent(t, w)
		m, err := meta.Accessor(e.Object)
		if err != nil {
			t.Fatal(err)
		}
		got = append(
			got,
			fmt.Sprint(
				e.Type, " ", m.GetNamespace(), "/", m.GetName(), " ", m.GetResourceVersion(), " ",
				m.GetAnnotations()[metav1.InitialEventsAnnotationKey],
			),
		)
	}
	read()
	read()
	read()
	server.Set(pods, apitest.Item{Namespace: "a", Name: "p1"})
	read()
	server.Delete(pods, "a", "p2")
	read()
	server.Send(
		pods,
		`{"type":"BOOKMARK","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},`+
			`"columnDefinitions":null,"rows":[{"cells":["",""],"object":{"metadata":{"resourceVersion":"777",`+
			`"annotations":{"x":"y"}}}}]}}`+"\n",
	)
	read()
	want := []string{
		"ADDED a/p1 101 ", "ADDED a/p2 102 ", "BOOKMARK / 102 true", "MODIFIED a/p1 103 ", "DELETED a/p2 104 ",
		"BOOKMARK / 777 ",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	if fmt.Sprint(observed) != "[1 2 2]" {
		t.Errorf("Observe: got counts %v, want [1 2 2]", observed)
	}
}

// An empty streaming list has its columns in the final bookmark.
func TestEmptyStreamingListHasColumns(t *testing.T) {
	s := newSource(t, podServer(t), pods, listwatch.SourceOptions{})
	if e := nextEvent(t, openWatch(t, s, streamingListOptions())); e.Type != apiwatch.Bookmark {
		t.Errorf("got %s, want BOOKMARK", e.Type)
	}
	if len(s.Columns()) != 2 {
		t.Errorf("got columns %v, want two", s.Columns())
	}
}

// A panic fails the list or the watch, but does not end the process.
func TestPanicFailsListOrWatch(t *testing.T) {
	server := podServer(t)
	server.Set(pods, apitest.Item{Namespace: "a", Name: "p1"})
	panics := 0
	s := newSource(t, server, pods, listwatch.SourceOptions{
		Observe:  func(int, int64) { panic("boom") },
		Panicked: func(any, []byte) { panics++ },
	})
	if e := nextEvent(t, openWatch(t, s, streamingListOptions())); e.Type != apiwatch.Error {
		t.Errorf("watch: got %s, want ERROR", e.Type)
	}
	if _, err := s.List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("List: got no error")
	}
	if panics != 2 {
		t.Errorf("got %d reported panics, want 2", panics)
	}
}

func TestMalformedLineFailsTheWatch(t *testing.T) {
	expired := apitest.Failure(410, "Expired", "too old")
	tests := []struct{ name, line, want string }{
		{"server error", `{"type":"ERROR","object":` + expired + `}`, "too old"},
		{"an error without a status", `{"type":"ERROR"}`, "the ERROR event has no Status"},
		{"an error of another type", `{"type":"ERROR","object":[]}`, "the ERROR event has no Status"},
		{"not JSON", `oops`, "decode a watch event"},
		{"truncated JSON", `{"type":"ADDED","object":{"metadata":{`, "decode a watch event"},
		{"trailing data", `{"type":"ADDED","object":{"metadata":{"name":"a"}}} x`, "decode a watch event"},
		{"an array", `[]`, "decode a watch event"},
		{"an empty line", ``, "decode a watch event"},
		{"no type", `{"object":{}}`, `unknown event type ""`},
		{"unknown event type", `{"type":"SHOUTED","object":{}}`, `unknown event type "SHOUTED"`},
		{"event type is not a string", `{"type":7,"object":{}}`, "decode a watch event"},
		{"no object", `{"type":"ADDED"}`, ""},
		{"object null", `{"type":"ADDED","object":null}`, ""},
		{
			"no name",
			`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":["x"],` +
				`"object":{"metadata":{}}}]}}`,
			"the object has no name",
		},
		{
			"a plain object", `{"type":"ADDED","object":{"metadata":{"name":"x"}}}`,
			"the columns of the resource have changed",
		},
		{
			"a table without rows",
			`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}}`,
			"the ADDED event has no object",
		},
		{
			"rows null", `{"type":"MODIFIED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":null}}`,
			"the MODIFIED event has no object",
		},
		{
			"a row without an object",
			`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":["x"]}]}}`,
			"decode an object",
		},
		{
			"row of another type",
			`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[7]}}`, "",
		},
		{
			"column definitions of another type",
			`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":{"a":1},` +
				`"rows":[]}}`,
			"decode the column definitions",
		},
		{
			"changed columns",
			`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1",` +
				`"columnDefinitions":[{"name":"X","type":"string"}],"rows":[]}}`,
			"the columns of the resource have changed",
		},
		{"deep nesting", `{"type":"ADDED","object":` + strings.Repeat("[", 20_000) + `}`, "decode a watch event"},
		{
			"a bookmark of another type",
			`{"type":"BOOKMARK","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"object":[]}]}}`,
			"",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := podServer(t)
			s := newSource(t, server, pods, listwatch.SourceOptions{})
			listAll(t, s)
			w := openWatch(t, s, metav1.ListOptions{ResourceVersion: "100"})
			server.Send(pods, test.line+"\n")
			e := nextEvent(t, w)
			status, ok := e.Object.(*metav1.Status)
			if e.Type != apiwatch.Error || !ok {
				t.Fatalf("got %s with %T, want ERROR with a Status", e.Type, e.Object)
			}
			if !strings.Contains(status.Message, test.want) || status.Message == "" {
				t.Errorf("status message: got %q, want one that contains %q", status.Message, test.want)
			}
			if e, open := <-w.ResultChan(); open {
				t.Errorf("watch after the error: got %s, want it closed", e.Type)
			}
		})
	}
}

func TestUnusualLinesAreDecoded(t *testing.T) {
	row := func(cells, object string) string {
		return `{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},` +
			`"columnDefinitions":null,"rows":[{"cells":` + cells + `,"object":` + object + `}]}}`
	}
	for _, test := range []struct{ name, line, want string }{
		{
			"invalid UTF-8", row(`["x`+"\xff"+`",""]`, `{"metadata":{"name":"n`+"\xc3\x28"+`"}}`),
			"n\ufffd( [\"x\ufffd\",\"\"] {\"metadata\":{\"name\":\"n\ufffd(\"}}",
		},
		{
			"invalid UTF-8 only in the object", row(`["",""]`, `{"metadata":{"name":"n`+"\xff"+`"}}`),
			"n\ufffd [\"\",\"\"] {\"metadata\":{\"name\":\"n\ufffd\"}}",
		},
		{
			"invalid UTF-8 only in the cells", row(`["`+"\xff"+`",""]`, `{"metadata":{"name":"n"}}`),
			"n [\"\ufffd\",\"\"] {\"metadata\":{\"name\":\"n\"}}",
		},
		{
			"unpaired surrogate", row(`["x\ud800",""]`, `{"metadata":{"name":"n"}}`),
			"n [\"x\ufffd\",\"\"] {\"metadata\":{\"name\":\"n\"}}",
		},
		{
			"nulls",
			row(
				`null`,
				`{"metadata":{"name":"n","namespace":null,"uid":null,"labels":null,"annotations":null,`+
					`"creationTimestamp":null,"managedFields":null}}`,
			),
			`n [] {"metadata":{"name":"n","namespace":null,"uid":null,"labels":null,"annotations":null,` +
				`"creationTimestamp":null}}`,
		},
		{
			"managedFields of another type",
			row(`["",""]`, `{"metadata":{"name":"n","managedFields":{"a":"CANARY"}}}`),
			`n ["",""] {"metadata":{"name":"n"}}`,
		},
		{
			"whitespace", "  " + strings.ReplaceAll(row(`["",""]`, `{"metadata":{"name":"n"}}`), ":", " : ") + " ",
			`n ["",""] {"metadata":{"name":"n"}}`,
		},
		{
			"members in another order",
			`{"object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"object":{"metadata":{"name":"n"}},` +
				`"cells":["x",""]}]},"type":"MODIFIED"}`,
			`n ["x",""] {"metadata":{"name":"n"}}`,
		},
		{
			"a carriage return", row(`["",""]`, `{"metadata":{"name":"n"}}`) + "\r",
			`n ["",""] {"metadata":{"name":"n"}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := podServer(t)
			s := newSource(t, server, pods, listwatch.SourceOptions{})
			listAll(t, s)
			w := openWatch(t, s, metav1.ListOptions{ResourceVersion: "100"})
			server.Send(pods, test.line+"\n")
			v := versionOf(t, nextEvent(t, w))
			o := v.Object
			text, err := o.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if got := o.Name() + " " + string(o.Cells()) + " " + string(text); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if v.Managed != nil {
				t.Errorf("got managedFields %+v, want none", v.Managed)
			}
		})
	}
}

// An interrupted watch ends without an error event, so that the next watch resumes. An interrupted streaming list
// ends with an error event.
func TestInterruptedStreamFailsOnlyDuringList(t *testing.T) {
	for _, test := range []struct {
		name        string
		options     metav1.ListOptions
		partialLine string
		want        string
	}{
		{name: "watch, between lines", options: metav1.ListOptions{ResourceVersion: "100"}},
		{
			name: "watch, within a line", options: metav1.ListOptions{ResourceVersion: "100"},
			partialLine: `{"type":"ADDED","object":{"metad`,
		},
		{name: "list, between lines", options: streamingListOptions(), want: "unexpected EOF"},
		{
			name: "list, within a line", options: streamingListOptions(), partialLine: `{"type":"ADDED","object":{"metad`,
			want: "unexpected EOF",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := podServer(t)
			server.HangStreamingLists(pods)
			observed := make(chan int, 1)
			s := newSource(t, server, pods, listwatch.SourceOptions{Observe: func(n int, _ int64) { observed <- n }})
			w := openWatch(t, s, test.options)
			server.Set(pods, apitest.Item{Namespace: "a", Name: "p1"})
			if test.options.SendInitialEvents != nil {
				<-observed
			} else {
				objectOf(t, nextEvent(t, w))
			}
			if test.partialLine != "" {
				server.Send(pods, test.partialLine)
			}
			server.EndWatches(pods)
			e, open := <-w.ResultChan()
			if test.want == "" {
				if open {
					t.Errorf("got %s %+v, want the end of the watch", e.Type, e.Object)
				}
				return
			}
			if status, ok := e.Object.(*metav1.Status); !ok || !strings.Contains(status.Message, test.want) {
				t.Errorf("got %s %+v, want an error with %q", e.Type, e.Object, test.want)
			}
		})
	}
}

// A streaming list fails after 30 s (fake time) without a new object, but not while objects arrive slowly.
// Invariant: I25. The program aborts a streaming list that makes no progress, a request for the size of a list if the
// API server does not respond, and a watch on which no data arrives. If the columns of a resource change, the next list
// contains the new columns.
func TestStreamingListFailsWithoutProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := podServer(t)
		server.HangStreamingLists(pods)
		var stalled, observed atomic.Int32
		s := newSource(t, server, pods, listwatch.SourceOptions{
			Stall: 30 * time.Second, Stalled: func() { stalled.Add(1) }, Observe: func(int, int64) { observed.Add(1) },
		})
		w := openWatch(t, s, streamingListOptions())
		for i := range 5 {
			<-time.After(29 * time.Second)
			server.Set(pods, apitest.Item{Namespace: "a", Name: fmt.Sprint("p", i)})
			synctest.Wait()
		}
		last := time.Now()
		e := nextEvent(t, w)
		if observed.Load() != 5 {
			t.Errorf("got %d observed objects, want 5", observed.Load())
		}
		status, ok := e.Object.(*metav1.Status)
		if e.Type != apiwatch.Error || !ok || status.Reason != metav1.StatusReasonTimeout {
			t.Errorf("got %s %+v, want ERROR with the reason Timeout", e.Type, e.Object)
		}
		if got := time.Since(last); got != 30*time.Second {
			t.Errorf("aborted after %s, want 30s", got)
		}
		if stalled.Load() != 1 {
			t.Errorf("Stalled was called %d times, want once", stalled.Load())
		}
	})
}

// The response to a list can start after more than a minute (fake time), because kube-apiserver first collects the
// complete list.
// Invariant: I24.
func TestFirstObjectOfListMayTakeLonger(t *testing.T) {
	const row = `{"cells":["x",""],"object":{"metadata":{"name":"x"}}}`
	for _, test := range []struct {
		name                    string
		firstDelay, secondDelay time.Duration
		objects, failsAfter     int // Expected objects, and seconds until the failure; 0 if the list succeeds.
	}{
		{"slow first object", 70 * time.Second, 0, 2, 0},
		{"no first object", time.Hour, 0, 0, 75},
		{"slow second object", 70 * time.Second, 25 * time.Second, 2, 0},
		{"no second object", 0, time.Hour, 0, 30},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := podServer(t)
				server.Handle("/api/v1/pods", func(w http.ResponseWriter, r *http.Request) {
					for n, part := range []string{
						`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"rows":[` + row,
						`,` + row + `]}`,
					} {
						select {
						case <-time.After([]time.Duration{test.firstDelay, test.secondDelay}[n]):
						case <-r.Context().Done():
							return
						}
						_, _ = io.WriteString(w, part)
						_ = http.NewResponseController(w).Flush()
					}
				})
				s := newSource(t, server, pods, listwatch.SourceOptions{Stall: 15 * time.Second})
				start := time.Now()
				list, err := s.List(t.Context(), metav1.ListOptions{})
				switch elapsed := time.Since(start); {
				case test.failsAfter > 0:
					if err == nil || elapsed != time.Duration(test.failsAfter)*time.Second ||
						!strings.Contains(err.Error(), fmt.Sprintf("no progress for %s", elapsed)) {
						t.Errorf("List after %s: got error %v, want it to be aborted after %d s", elapsed, err, test.failsAfter)
					}
				case err != nil || len(list.Items) != test.objects:
					t.Errorf("List after %s: got %+v, error %v, want %d objects", elapsed, list, err, test.objects)
				}
			})
		})
	}
}

// Estimate and Count fail after 10 s (fake time), because their caller can continue without the result.
// Invariant: I25.
func TestEstimateAndCountTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := podServer(t)
		server.Hang("/api/v1/pods")
		client := listwatch.NewClient(server.Config, listwatch.ClientOptions{})
		scope := listwatch.Scope{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}
		start := time.Now()
		if _, _, err := client.Estimate(t.Context(), scope); err == nil || time.Since(start) != 10*time.Second {
			t.Errorf("Estimate: got error %v after %s, want an error after 10 s", err, time.Since(start))
		}
		start = time.Now()
		if _, err := client.Count(t.Context(), scope); err == nil || time.Since(start) != 10*time.Second {
			t.Errorf("Count: got error %v after %s, want an error after 10 s", err, time.Since(start))
		}
	})
}

// A streaming list ends with a bookmark. If only changes arrive, they do not count as progress, so the list fails.
// Invariant: I25.
func TestChangesAreNotListProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := podServer(t)
		server.HangStreamingLists(pods)
		var stalled atomic.Int32
		s := newSource(t, server, pods, listwatch.SourceOptions{Stall: 30 * time.Second, Stalled: func() { stalled.Add(1) }})
		w := openWatch(t, s, streamingListOptions())
		start := time.Now()
		for i := range 40 {
			server.Set(pods, apitest.Item{Namespace: "a", Name: "p", Rest: fmt.Sprintf(`"spec":{"i":%d}`, i)})
			<-time.After(time.Second)
		}
		e := nextEvent(t, w)
		if status, ok := e.Object.(*metav1.Status); !ok || status.Reason != metav1.StatusReasonTimeout ||
			stalled.Load() != 1 {
			t.Errorf("got %s %+v, want ERROR with the reason Timeout", e.Type, e.Object)
		}
		if got := time.Since(start); got > 40*time.Second {
			t.Errorf("aborted after %s, want at most 40 s although changes continue", got)
		}
	})
}

// Listed objects wait uncompressed for a compression dictionary. For large objects, it is built after fewer objects.
// Invariant: I44.
func TestLargeObjectsAreSentEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := podServer(t)
		server.HangStreamingLists(pods)
		for i := range 80 {
			server.Set(
				pods,
				apitest.Item{
					Namespace: "a", Name: fmt.Sprint("p", i),
					Rest: fmt.Sprintf(`"spec":{"text":%q}`, strings.Repeat("x", 128<<10)),
				},
			)
		}
		w := openWatch(t, newSource(t, server, pods, listwatch.SourceOptions{}), streamingListOptions())
		if o := objectOf(t, nextEvent(t, w)); o.Size() > 1<<16 {
			t.Errorf("Size: got %d bytes for 128 KiB of one repeated letter, want at most 64 KiB", o.Size())
		}
	})
}

// A watch is closed after 150 s (fake time) without data, so that the next one can resume.
// Invariant: I25.
func TestSilentWatchIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := podServer(t)
		s := newSource(t, server, pods, listwatch.SourceOptions{Stall: 30 * time.Second})
		w := openWatch(t, s, streamingListOptions())
		nextEvent(t, w)
		server.HangStreamingLists(pods)
		for i := range 3 {
			<-time.After(149 * time.Second)
			server.Set(pods, apitest.Item{Namespace: "a", Name: fmt.Sprint("p", i)})
			objectOf(t, nextEvent(t, w))
		}
		start := time.Now()
		if e, more := <-w.ResultChan(); more || time.Since(start) != 150*time.Second {
			t.Errorf("after %s without events: got %s %+v, want the end after 2m30s", time.Since(start), e.Type, e.Object)
		}
	})
}

func TestStopEndsWatch(t *testing.T) {
	server := podServer(t)
	server.Set(pods, apitest.Item{Namespace: "a", Name: "p1"}, apitest.Item{Namespace: "a", Name: "p2"})
	s := newSource(t, server, pods, listwatch.SourceOptions{})
	w := openWatch(t, s, streamingListOptions())
	nextEvent(t, w)
	w.Stop() // Stop must work while the watch waits for a receiver of the event of p2.
	if _, open := <-w.ResultChan(); open {
		t.Error("got an event after Stop")
	}
}

func FuzzDecodedWatchEventIsValidJSON(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1",` +
			`"columnDefinitions":[{"name":"Name","type":"string"},{"name":"Age","type":"date"}],` +
			`"rows":[{"cells":["a","5m"],"object":{"metadata":{"name":"a",` +
			`"creationTimestamp":"2026-11-21T10:00:00Z","managedFields":[{"manager":"m",` +
			`"time":"2026-11-21T10:00:00Z"}]}}}]}}`,
		`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1",` +
			`"annotations":{"k8s.io/initial-events-end":"true"}}}}`,
		`{"type":"ERROR","object":{"message":"x","code":410}}`,
		`{"type":"DELETED","object":{"metadata":{"name":"\ud800"},"data":{"a":[1,"\u003c"]}}}`,
		`{"type":"ADDED","object":{"metadata":{"name":"a","annotations":{"a":"eyJh"}},` +
			`"spec":{"template":{"metadata":{"managedFields":[],"annotations":{"kapp.k14s.io/original":"{}"}}}}}}`,
		"", "null", `{"type":`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, resource := range []string{"pods", "secrets"} {
			listed, watched := listwatch.NewDecoder(resource), listwatch.NewDecoder(resource)
			if e, err := listed.Event(line); err == nil {
				listed.EndList()
				checkJSON(t, e)
			}
			watched.EndList()
			if e, err := watched.Event(line); err == nil {
				checkJSON(t, e)
			}
		}
	})
}

// checkJSON checks that the object of an event, its row, and its managedFields are valid JSON.
func checkJSON(t *testing.T, e apiwatch.Event) {
	t.Helper()
	o, isListed := e.Object.(*compact.Object)
	if v, ok := e.Object.(*compact.Version); ok {
		o = v.Object
		if v.Managed != nil {
			if text, err := v.Managed.JSON(); err != nil || !json.Valid(text) {
				t.Errorf("managedFields: got %q, error %v", text, err)
			}
		}
	} else if !isListed {
		return // A bookmark or an error has no object.
	}
	if text, err := o.JSON(); err != nil || !json.Valid(text) {
		t.Errorf("JSON: got %q, error %v", text, err)
	}
	if row := o.AppendRow(nil, true); !json.Valid(row) {
		t.Errorf("AppendRow: got invalid JSON %q", row)
	}
}
