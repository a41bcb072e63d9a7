package watch_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

func memory() (inUse, allocated int64) {
	runtime.GC()
	runtime.GC() // A second run is needed to free objects with finalizers, and sync.Pool contents.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.TotalAlloc) //nolint:gosec // The values are far below 2^63.
}

// allocatedBy returns the number of bytes that f allocates. It disables the garbage collector while f runs. Otherwise,
// the collector would clear weak references, and f would allocate their values again.
func allocatedBy(f func()) int64 {
	_, before := memory()
	percent := debug.SetGCPercent(-1)
	f()
	debug.SetGCPercent(percent)
	_, after := memory()
	return after - before
}

// longPod has nearly half a megabyte of text that compresses well.
func longPod(word, phase string) apitest.Item {
	return apitest.Item{
		Namespace: "a", Name: "p", Cells: fmt.Sprintf(`["p",%q]`, phase),
		Rest: fmt.Sprintf(`"data":{"text":%q},"status":{"phase":%q}`,
			strings.Repeat(word+" all work and no play makes jack a dull boy; ", 10_000), phase),
	}
}

func readToType(t *testing.T, sub *watch.Subscription, kind string) {
	t.Helper()
	for {
		m, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Compare the message without allocations, because some callers measure allocations.
		if bytes.HasPrefix(m, []byte(`"type":"`+kind+`"`)) {
			return
		}
	}
}

func subscribeView(t *testing.T, cluster *watch.Cluster, q query.Query, view stream.View) *watch.Subscription {
	t.Helper()
	q.Resource = pods
	sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), q, view, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sub.Close)
	readToType(t, sub, "snapshot")
	return sub
}

// A long patch is freed after it has been sent. Therefore, the history uses no more memory than reported.
// Invariant: I14.
func TestLongPatchesAreFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, longPod("0", "Running"))
		sub := subscribeView(t, cluster, query.Query{}, stream.Changes)
		before, _ := memory()
		for n := range 60 {
			server.Set(pods, longPod(strconv.Itoa(n), "Running"))
			readToType(t, sub, "events")
		}
		server.Expire(pods) // Discard the events that the fake API server keeps in memory.
		<-time.After(5 * time.Second)
		if after, _ := memory(); after > before+12<<20 {
			t.Errorf("60 sent changes of 0.5 MB use %d MiB, want at most 12", (after-before)>>20)
		}
	})
}

// Many readers of an object share one encoded patch, so further readers need almost no memory.
// Invariant: I14.
func TestPatchesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, longPod("0", "Pending"))
		var subs []*watch.Subscription
		for range 30 {
			subs = append(subs, subscribeView(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "p"}, stream.Object))
		}
		server.Set(pods, longPod("0", "Running"))
		readToType(t, subs[0], "events")
		_, before := memory()
		for _, sub := range subs[1:] {
			readToType(t, sub, "events")
			runtime.GC()
		}
		if _, after := memory(); after > before+4<<20 {
			t.Errorf("29 more readers of one small patch use %d MiB, want at most 4", (after-before)>>20)
		}
	})
}

// The reported size of the history includes the encoded rows of its changes, because these rows stay in memory for
// later readers.
// Invariant: I14. Data that is computed from changes counts toward the memory budget, or is freed. Label
// selectors need little memory. All clients that show the resource picker share one encoded list of resources.
func TestHistorySizeIncludesRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		sub := subscribeView(t, cluster, query.Query{}, stream.Rows)
		const changes, cell = 20, 10_000
		for n := range changes {
			server.Set(pods, pod("a", fmt.Sprint("p", n), strings.Repeat("x", cell)))
			readToType(t, sub, "events")
		}
		for _, c := range cluster.WatchStatus().Entries {
			if c.Resource == pods && c.RingBytes < changes*2*cell {
				t.Errorf("%d changes with a cell of %d bytes and encoded text: got RingBytes %d, want both counted",
					changes, cell, c.RingBytes)
			}
		}
	})
}

// The memory that a reader with a label selector needs does not depend on the number of objects.
// Invariant: I14.
func TestSelectorsAreSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		items := make([]apitest.Item, 5000)
		for n := range items {
			items[n] = labelled(pod("a", fmt.Sprint("p", n), "Running"), fmt.Sprint("app-", n))
		}
		server.Set(pods, items...)
		subscribeView(t, cluster, query.Query{}, stream.Rows)
		var perReader []int64
		const readers = 40
		none, some := query.Query{Namespaces: []string{"b"}}, query.Query{Labels: "app=none"}
		// Memory that is freed during a measurement makes the result too low. Therefore, measure the query "none"
		// twice, before and after the query "some", and use the higher result.
		for _, q := range []query.Query{none, some, none} {
			before, _ := memory()
			for range readers {
				subscribeView(t, cluster, q, stream.Rows)
			}
			after, _ := memory()
			perReader = append(perReader, (after-before)/readers)
		}
		if perReader[1] > max(perReader[0], perReader[2])+20<<10 {
			t.Errorf("reader with a label selector uses %d bytes, reader of a namespace %d or %d; want no more",
				perReader[1], perReader[0], perReader[2])
		}
	})
}

// With a limit of two, at most two messages are in memory at a time, even if clients read slowly. Messages are delayed,
// but not lost.
// Invariant: I44.
func TestMessagesInMemoryAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, longPod("0", "Running"))
		access := cluster.For(watch.Viewer{Program: true}).With(watch.ReadOptions{MaxMessages: 2})
		var messages atomic.Int64
		proceed := make(chan struct{})
		var reading sync.WaitGroup
		for range 100 {
			sub, err := access.Subscribe(
				t.Context(), query.Query{Resource: pods, Namespaces: []string{"a"}, Name: "p"}, stream.Object, "",
			)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(sub.Close)
			reading.Go(func() {
				readToType(t, sub, "snapshot")
				messages.Add(1)
				<-proceed
				sub.Close()
			})
		}
		ended, cancel := context.WithCancel(t.Context())
		waiting, err := access.Subscribe(ended, query.Query{Resource: pods}, stream.Rows, "")
		if err != nil {
			t.Fatal(err)
		}
		reading.Go(func() {
			for {
				if _, err := waiting.Next(ended); err != nil {
					break
				}
			}
			waiting.Close()
		})
		<-time.After(time.Second)
		synctest.Wait()
		if n := messages.Load(); n != 2 {
			t.Errorf("got %d concurrent messages in memory, want 2", n)
		}
		cancel()
		synctest.Wait()
		close(proceed)
		reading.Wait()
		if n := messages.Load(); n != 100 {
			t.Errorf("got %d sent messages, want 100", n)
		}
	})
}

func TestMemoryIsReservedFirst(t *testing.T) {
	window, err := query.NewWindow("", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		view  stream.View
		query query.Query
	}{
		{stream.Rows, query.Query{Namespaces: []string{"a"}}},
		{stream.Table, query.Query{Namespaces: []string{"a"}}},
		{stream.Changes, query.Query{}},
		{stream.Object, query.Query{Namespaces: []string{"a"}, Name: "p"}},
		{stream.Windowed, query.Query{Window: window}},
	} {
		t.Run(string(test.view), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(pods, pod("a", "p", "Running"))
				budget := limit.NewBudget(64 << 20)
				var reserved, early int
				access := cluster.For(watch.Viewer{Program: true}).With(watch.ReadOptions{
					Reserve: func(ctx context.Context, bytes int64) (*limit.Reservation, error) {
						reserved++
						return budget.Reserve(ctx, limit.Caller{Key: "a"}, bytes, idleResponse{})
					},
					ScanLimiter: func(context.Context) (release func(), err error) {
						// Only the view Windowed is allowed to scan before it reserves memory: all its readers share the sorted
						// rows of one scan.
						if reserved == 0 && test.view != stream.Windowed {
							early++
						}
						return func() {}, nil
					},
				})
				test.query.Resource = pods
				sub, err := access.Subscribe(t.Context(), test.query, test.view, "")
				if err != nil {
					t.Fatal(err)
				}
				first := "snapshot"
				if test.view == stream.Windowed {
					first = "window"
				}
				readToType(t, sub, first)
				if reserved == 0 || early > 0 {
					t.Errorf("got %d memory reservations, %d scans before a reservation; want none", reserved, early)
				}
				if budget.Used() == 0 {
					t.Error("no memory is reserved while the message is sent")
				}
				sub.Close()
				if used := budget.Used(); used != 0 {
					t.Errorf("got %d reserved bytes after Close, want 0", used)
				}
			})
		})
	}
}

// A message with events reserves memory for its text, and for a compressor if the text is long enough.
func TestEventsReserveMemory(t *testing.T) {
	const compressor = 1 << 20
	window, err := query.NewWindow("", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		view       stream.View
		query      query.Query
		compressed bool
	}{
		{stream.Rows, query.Query{}, false},
		{stream.Table, query.Query{}, false},
		{stream.Changes, query.Query{}, false},
		{stream.Object, query.Query{Namespaces: []string{"a"}, Name: "p"}, true},
		{stream.Windowed, query.Query{Window: window}, false},
	} {
		t.Run(string(test.view), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(pods, pod("a", "p", "Running"))
				budget := limit.NewBudget(64 << 20)
				access := cluster.For(watch.Viewer{Program: true}).
					With(watch.ReadOptions{Reserve: func(ctx context.Context, bytes int64) (*limit.Reservation, error) {
						return budget.Reserve(ctx, limit.Caller{Key: "a"}, bytes, idleResponse{})
					}})
				test.query.Resource = pods
				sub, err := access.Subscribe(t.Context(), test.query, test.view, "")
				if err != nil {
					t.Fatal(err)
				}
				defer sub.Close()
				first, events := "snapshot", "events"
				if test.view == stream.Windowed {
					first, events = "window", "window-events"
				}
				readToType(t, sub, first)
				changed := pod("a", "p", strings.Repeat("x", 4<<10))
				changed.Rest = fmt.Sprintf(`"spec":{"text":%q}`, strings.Repeat("y", 4<<10))
				server.Set(pods, changed)
				readToType(t, sub, events)
				used := budget.Used()
				if used < 4<<10 || (used > compressor) != test.compressed {
					t.Errorf("events of 4 KiB: got %d reserved bytes, want at least 4 KiB, with a compressor: %t",
						used, test.compressed)
				}
			})
		})
	}
}

// The memory for rows is reported before it is allocated. The reported size is one to two times the used size.
func TestSnapshotReportsMemory(t *testing.T) {
	const rows = 4000
	guest := sharedWith(watch.Part{Resource: pods})
	for _, test := range []struct {
		name   string
		viewer watch.Viewer
		query  query.Query
	}{
		{"some rows", watch.Viewer{Program: true}, query.Query{Namespaces: []string{"a"}}},
		{"sorted rows", watch.Viewer{Program: true}, query.Query{Sort: "status"}},
		{"rows of a guest", guest, query.Query{}},
		{"some rows of a guest", guest, query.Query{Namespaces: []string{"a"}}},
		{"a page of a guest", guest, query.Query{Offset: rows - 1000, Limit: 100}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				items := make([]apitest.Item, rows)
				for n := range items {
					items[n] = pod("a", fmt.Sprint("p", n), "Running")
				}
				server.Set(pods, items...)
				var reported, maxReported int64
				access := cluster.For(test.viewer).With(watch.ReadOptions{Grow: func(bytes int64) {
					reported += bytes
					maxReported = max(maxReported, reported)
				}})
				test.query.Resource = pods
				read := func() *watch.Snapshot {
					reported, maxReported = 0, 0
					s, err := access.Snapshot(t.Context(), test.query, time.Minute)
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
				shared, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
					t.Context(), query.Query{Resource: pods}, time.Minute,
				)
				if err != nil {
					t.Fatal(err)
				}
				read() // Build the list of all rows before the measurement.
				before, _ := memory()
				s := read()
				after, _ := memory()
				used := after - before
				if reported < used-16<<10 || reported > 2*used+16<<10 || maxReported < reported {
					t.Errorf("%d rows use %d bytes, but reported are %d, at most %d",
						len(s.Objects), used, reported, maxReported)
				}
				if want := max(test.query.Limit, rows*(1-min(1, test.query.Limit))); len(s.Objects) != want {
					t.Errorf("got %d rows, want %d", len(s.Objects), want)
				}
				runtime.KeepAlive(shared)
			})
		})
	}
}

type idleResponse struct{}

func (idleResponse) Behind(int64) time.Duration { return 0 }
func (idleResponse) Abort()                     {}
