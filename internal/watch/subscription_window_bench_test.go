package watch_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

const benchRows = 100_000

func benchPod(n, restarts int) apitest.Item {
	name := fmt.Sprintf("web-%d-7d4b9c6f5-%05d", n%700, n)
	return apitest.Item{
		Namespace: fmt.Sprint("ns-", n%50), Name: name,
		Cells: fmt.Sprintf(`[%q,"1/1","Running",%d,"5m"]`, name, restarts),
		Metadata: fmt.Sprintf(`"creationTimestamp":%q`,
			time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC).Format(time.RFC3339)),
	}
}

func newBenchCluster(b *testing.B) (*apitest.Server, *watch.Cluster) {
	b.Helper()
	server := apitest.New(b, apitest.Kind{
		Ref: pods, Kind: "Pod",
		Columns: `[{"name":"Name","type":"string"},{"name":"Ready","type":"string"},` +
			`{"name":"Status","type":"string"},{"name":"Restarts","type":"integer"},{"name":"Age","type":"string"}]`,
	})
	items := make([]apitest.Item, benchRows)
	for n := range items {
		items[n] = benchPod(n, n%40)
	}
	// Create the objects before the watch starts. Otherwise, the watch would send each of them.
	server.ChangeWhileDown(pods, func() { server.Set(pods, items...) })
	cluster, err := watch.New(server.Config,
		watch.Options{Linger: time.Hour, Ring: informer.Ring{Bytes: 16 << 20}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	apitest.Run(b, cluster.Run)
	for {
		snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(b.Context(), query.Query{Resource: pods},
			time.Minute)
		if err == nil && len(snapshot.Objects) == benchRows {
			return server, cluster
		}
		runtime.Gosched()
	}
}

func openView(b *testing.B, cluster *watch.Cluster, sort, text string) *watch.Subscription {
	b.Helper()
	q, view, first := query.Query{Resource: pods, Text: text}, stream.Rows, []byte(`"last":true`)
	if sort != "rows" {
		window, err := query.NewWindow(sort, windowOffset(sort), 120)
		if err != nil {
			b.Fatal(err)
		}
		q.Window, view, first = window, stream.Windowed, []byte(`"type":"window"`)
	}
	sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(b.Context(), q, view, "")
	if err != nil {
		b.Fatal(err)
	}
	readUntilPart(b, sub, first)
	return sub
}

// windowOffset returns the offset of the window for BenchmarkOneChange. In the order by name, the window contains the
// changed row.
func windowOffset(sort string) int {
	if sort == "name" {
		return 61_900
	}
	// In the order by restarts, each change moves the row from one side of the window to the other.
	return benchRows / 3
}

func readUntilPart(b *testing.B, sub *watch.Subscription, part []byte) {
	b.Helper()
	for {
		m, err := sub.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if bytes.Contains(m, part) {
			return
		}
	}
}

// BenchmarkFirstView measures how long a client waits for all rows, or for a window without an existing sorted list.
func BenchmarkFirstView(b *testing.B) {
	_, cluster := newBenchCluster(b)
	for _, test := range []struct{ name, sort, text string }{
		{"rows", "rows", ""},
		{"rows with a filter", "rows", "running web-1"},
		{"window", "", ""},
		{"window by name", "name", ""},
		{"window by restarts", "-restarts", ""},
		{"window by age", "age", ""},
		{"window with a filter", "age", "running web-1"},
	} {
		b.Run(test.name, func(b *testing.B) {
			cluster.Informer(pods).DropUnused()
			before, _ := memory()
			sub := openView(b, cluster, test.sort, test.text)
			after, _ := memory()
			sub.Close()
			for b.Loop() {
				cluster.Informer(pods).DropUnused()
				openView(b, cluster, test.sort, test.text).Close()
			}
			// The memory of the sorted list for each row.
			b.ReportMetric(float64(max(after, before)-before)/benchRows, "cachedB/row")
		})
	}
	b.Run("window of a shared ranking", func(b *testing.B) {
		defer openView(b, cluster, "age", "").Close()
		for b.Loop() {
			openView(b, cluster, "age", "").Close()
		}
	})
}

// BenchmarkFirstRows measures two snapshots: one of all rows, and one of the 100 rows that the HTML of a page contains.
func BenchmarkFirstRows(b *testing.B) {
	_, cluster := newBenchCluster(b)
	for _, test := range []struct{ name, sort, text string }{
		{"", "", ""}, {" by age", "-age", ""}, {" by name", "name", ""}, {" with a filter", "", "running web-1"},
	} {
		for _, limit := range []int{100, 0} {
			name := fmt.Sprint("first ", limit, test.name)
			if limit == 0 {
				name = "all" + test.name
			}
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					cluster.Informer(pods).DropUnused()
					q := query.Query{Resource: pods, Sort: test.sort, Text: test.text, Limit: limit}
					if _, err := cluster.For(watch.Viewer{Program: true}).Snapshot(b.Context(), q,
						time.Minute); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// processorTime returns the CPU time of this process. Elapsed time would include a reader's pauses after late messages.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkOneChange measures the CPU time from an update of one pod in memory to the message for a reader.
func BenchmarkOneChange(b *testing.B) {
	server, cluster := newBenchCluster(b)
	const n = benchRows / 3
	at := func(restarts int) *watch.Item {
		server.Set(pods, benchPod(n, restarts))
		for {
			snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(b.Context(),
				query.Query{Resource: pods, Name: benchPod(n, 0).Name}, 0)
			if err != nil {
				b.Fatal(err)
			}
			if len(snapshot.Objects) == 1 &&
				bytes.Contains(snapshot.Objects[0].Cells(), fmt.Appendf(nil, ",%d,", restarts)) {
				return snapshot.Objects[0]
			}
			time.Sleep(time.Millisecond) //nolint:forbidigo // This is a benchmark in real time.
		}
	}
	versions := []*watch.Item{at(39), at(0)}
	// Sorted by restarts, the changed row moves from one side of the window to the other. Sorted by name, it stays.
	for _, sort := range []string{"rows", "name", "-restarts"} {
		b.Run(strconv.Quote(sort), func(b *testing.B) {
			sub := openView(b, cluster, sort, "")
			defer sub.Close()
			before := processorTime(b)
			for i := 0; b.Loop(); i++ {
				o := versions[i%2]
				cluster.Informer(pods).Set(informer.Key(o.Namespace(), o.Name()), o, event.Memo{}, 0)
				for {
					m, err := sub.Next(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					if bytes.Contains(m, []byte(`events":[{`)) || bytes.Contains(m, []byte(`"rows"`)) {
						break
					}
				}
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
