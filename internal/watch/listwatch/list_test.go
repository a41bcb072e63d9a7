package listwatch_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
)

func items(n int) []apitest.Item {
	list := make([]apitest.Item, n)
	for i := range list {
		list[i] = apitest.Item{
			Namespace: "a", Name: fmt.Sprintf("p%04d", i),
			Rest: fmt.Sprintf(
				`"spec":{"containers":[{"image":"registry.example.com/team/app:v%d","args":[%q]}],`+
					`"restartPolicy":"Always","filler":%q}`,
				i, strings.Repeat(strconv.Itoa(i*i), 20), strings.Repeat("the same for all of them ", 20),
			),
		}
	}
	return list
}

func wantText(i int, item apitest.Item) string {
	return fmt.Sprintf(
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"a","uid":"a/%s",`+
			`"resourceVersion":"%d"},%s}`,
		item.Name, item.Name, 101+i, item.Rest,
	)
}

// Objects of previous lists keep the decompressor of their list in memory, but not the larger compressor.
// Invariant: I13.
func TestObjectsOfPreviousListsAreSmall(t *testing.T) {
	server := podServer(t)
	server.Set(pods, items(40)...)
	s := newSource(t, server, pods, listwatch.SourceOptions{})
	var objects []*compact.Object
	heapAlloc := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // Two collections are necessary to empty a sync.Pool.
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	list := func() { objects = append(objects, listAll(t, s)[0]) }
	list()
	before := heapAlloc()
	const lists = 50
	for range lists {
		list()
	}
	growth := int64(heapAlloc()) - int64(before) //nolint:gosec // The values are far below 2^63.
	t.Logf("got %d bytes for each list", growth/lists)
	if growth/lists > 150_000 {
		t.Errorf("got %d bytes in memory for each list, want at most 150,000", growth/lists)
	}
	for _, o := range objects {
		if text, err := o.JSON(); err != nil || !strings.HasPrefix(string(text), "{") {
			t.Fatalf("object of an earlier list: got %s, error %v", text, err)
		}
	}
}

// Compression preserves each byte. With a dictionary, an object uses at most 300 bytes.
func TestTextsRoundTrip(t *testing.T) {
	for _, n := range []int{1, 31, 32, 255, 256, 300} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			server := podServer(t)
			all := items(n)
			server.Set(pods, all...)
			s := newSource(t, server, pods, listwatch.SourceOptions{})
			check := func(label string, objects []*compact.Object) {
				size := 0
				for i, o := range objects {
					text, err := o.JSON()
					if err != nil || string(text) != wantText(i, all[i]) {
						t.Fatalf("%s: object %d: got %s, error %v; want %s", label, i, text, err, wantText(i, all[i]))
					}
					size += o.Size()
				}
				if len(objects) != n {
					t.Errorf("%s: got %d objects, want %d", label, len(objects), n)
				}
				if average := size / n; n >= 32 && average > 300 {
					t.Errorf("%s: an object of 700 bytes uses %d bytes, want at most 300", label, average)
				}
			}
			check("list", listAll(t, s))

			w := openWatch(t, s, streamingListOptions())
			streamed := make([]*compact.Object, 0, n)
			for range n {
				streamed = append(streamed, objectOf(t, nextEvent(t, w)))
			}
			nextEvent(t, w)
			check("stream", streamed)

			server.Set(pods, all[0])
			text, err := objectOf(t, nextEvent(t, w)).JSON()
			if want := wantText(n, all[0]); err != nil || string(text) != want {
				t.Errorf("watch event: got %s, error %v; want %s", text, err, want)
			}
		})
	}
}

// Streamed objects do not change after they were sent; the race detector verifies this.
func TestStreamedObjectsCanBeReadImmediately(t *testing.T) {
	server := podServer(t)
	server.Set(pods, items(300)...)
	w := openWatch(t, newSource(t, server, pods, listwatch.SourceOptions{}), streamingListOptions())
	names := 0
	for range 300 {
		names += len(objectOf(t, nextEvent(t, w)).Name())
	}
	if names != 300*len("p0000") {
		t.Errorf("got %d bytes of names", names)
	}
}

func TestListReturnsTablesAndPlainLists(t *testing.T) {
	for _, test := range []struct {
		name    string
		columns string
		page, n int
		want    int
	}{
		{name: "a table", columns: "[" + nameColumn + "," + ageColumn + "]", n: 5, want: 2},
		{name: "a table in pages", columns: "[" + nameColumn + "," + ageColumn + "]", n: 5, page: 2, want: 2},
		{name: "an empty table", columns: "[" + nameColumn + "]", want: 1},
		{name: "a plain list", n: 5, want: 2},
		{name: "a plain list in pages", n: 300, page: 7, want: 2},
		{name: "an empty plain list", want: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := apitest.New(t, apitest.Kind{Ref: pods, Kind: "Pod", Columns: test.columns, Page: test.page})
			all := items(test.n)
			server.Set(pods, all...)
			var observed []int
			s := newSource(t, server, pods, listwatch.SourceOptions{Observe: func(n int, _ int64) {
				observed = append(observed, n)
			}})
			var got []*compact.Object
			options := metav1.ListOptions{}
			for {
				list, err := s.List(t.Context(), options)
				if err != nil {
					t.Fatal(err)
				}
				if want := strconv.Itoa(100 + test.n); list.ResourceVersion != want {
					t.Errorf("resourceVersion of the list: got %q, want %q", list.ResourceVersion, want)
				}
				got = append(got, list.Items...)
				if options.Continue = list.Continue; options.Continue == "" {
					break
				}
			}
			if len(got) != test.n || len(s.Columns()) != test.want {
				t.Fatalf("got %d objects and columns %v, want %d and %d", len(got), s.Columns(), test.n, test.want)
			}
			for i, o := range got {
				if text, err := o.JSON(); err != nil || string(text) != wantText(i, all[i]) {
					t.Errorf("object %d: got %s, error %v; want %s", i, text, err, wantText(i, all[i]))
				}
				if observed[i] != i+1 {
					t.Errorf("Observe for object %d: got count %d", i, observed[i])
				}
			}
		})
	}
}

func TestErrorsContainTextOfAPIServer(t *testing.T) {
	server := podServer(t)
	s := newSource(t, server, pods, listwatch.SourceOptions{})
	for status, want := range map[int]string{403: "you may not", 404: "you may not", 500: "you may not"} {
		t.Run(fmt.Sprint("status ", status), func(t *testing.T) {
			server.Refuse(pods, "", status, "you may not")
			if _, err := s.List(t.Context(), metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("List: got %v, want an error with %q", err, want)
			}
			if _, err := s.Watch(t.Context(), metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Watch: got %v, want an error with %q", err, want)
			}
		})
	}
}

// Invariant: I25.
func TestColumnsChangeWithAList(t *testing.T) {
	server := podServer(t)
	server.Set(pods, items(1)...)
	s := newSource(t, server, pods, listwatch.SourceOptions{})
	listAll(t, s)
	server.SetColumns(pods, "["+column("Shade")+"]")
	listAll(t, s)
	if c := s.Columns(); len(c) != 1 || c[0].Name != "Shade" {
		t.Errorf("got columns %v, want Shade", c)
	}
}

func TestColumnIsEncodedAsJSON(t *testing.T) {
	got, err := json.Marshal(printer.Column{Name: "Age", Type: "date", Relative: true})
	if want := `{"name":"Age","type":"date","format":"","priority":0,"relative":true}`; err != nil ||
		string(got) != want {
		t.Errorf("got %s, error %v; want %s", got, err, want)
	}
}
