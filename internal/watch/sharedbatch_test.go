package watch_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/query"
)

// After a pause, a reader ends its batch at the offset where other readers have just ended theirs. Readers that start
// from the same cursor then send identical batches. A reader never ends a batch at its own cursor.
func TestBatchBoundariesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boundary := watch.NewBoundaries()
		const a = 100 // The newest offset at the first call of boundary.
		for _, test := range []struct {
			after           time.Duration
			from, now, want uint64
		}{
			{0, 90, a, a},
			{10 * time.Millisecond, 95, a + 5, a},
			{15 * time.Millisecond, 80, a + 9, a},
			{time.Millisecond, 90, a + 10, a + 10}, // 26 ms after the first call, its boundary has expired.
			{0, a + 10, a + 11, a + 11},            // A reader that has reached the shared offset gets a new one.
			{0, 90, a + 12, a + 11},
		} {
			advance(test.after)
			if got := boundary(test.from, func() uint64 { return test.now }); got != test.want {
				t.Errorf("after %s who is at %d of %d stops at %d, want %d",
					test.after, test.from, test.now, got, test.want)
			}
		}
	})
}

// Readers that send the same batch share one encoded text. A batch that differs in view, filter, columns or offsets
// is encoded separately.
func TestBatchesAreEncodedOnce(t *testing.T) {
	text := watch.NewSharedBatches()
	written := 0
	var texts []*[]byte
	request := func(view watch.View, filter byte, version int, from, to uint64) string {
		got, err := text(view, filter, version, from, to, func() string {
			written++
			return strconv.Itoa(written)
		})
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, got)
		return string(*got)
	}
	for range 2 {
		for n, got := range []string{
			request(watch.Rows, 1, 1, 1, 5), request(watch.Table, 1, 1, 1, 5), request(watch.Rows, 2, 1, 1, 5),
			request(watch.Rows, 1, 2, 1, 5), request(watch.Rows, 1, 1, 2, 5), request(watch.Rows, 1, 1, 1, 6),
		} {
			if want := strconv.Itoa(n + 1); got != want {
				t.Errorf("the text of %d is that of %s", n+1, got)
			}
		}
	}
	runtime.GC()
	if before := written; request(watch.Rows, 1, 1, 1, 5) != "1" || written != before {
		t.Error("a text in use is encoded again")
	}
	for n := range uint64(1000) {
		request(watch.Rows, 1, 1, n, n+10)
	}
	if before := written; request(watch.Rows, 1, 1, 1, 5) != strconv.Itoa(before+1) {
		t.Error("an old batch is still found")
	}
	runtime.KeepAlive(texts)
}

// Readers with different filters do not share texts: each gets only the events that its own filter matches.
func TestSharedBatchesRespectFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "0"), pod("b", "q", "0"), pod("b", "r", "0"))
		q := query.Query{Every: 50 * time.Millisecond}
		inB := q
		inB.Namespaces = []string{"b"}
		readers := []*reader{
			subscribe(t, cluster, q, ""), subscribe(t, cluster, inB, ""), subscribe(t, cluster, q, ""),
		}
		for _, r := range readers {
			r.settle()
		}
		for round := range 3 {
			server.Set(pods, pod("a", "p", fmt.Sprint(round, "x")))
			server.Set(pods, pod("b", "q", strconv.Itoa(round)))
			server.Set(pods, pod("b", "q", fmt.Sprint(round, "y")))
			synctest.Wait()
			for n, want := range []string{"update a/p, update b/q", "update b/q", "update a/p, update b/q"} {
				m := readers[n].next()
				for m.Type != "events" {
					m = readers[n].next()
				}
				var events []string
				for _, e := range m.Events {
					events = append(events, e.Op+" "+e.NS+"/"+e.Name)
				}
				if got := strings.Join(events, ", "); got != want {
					t.Errorf("round %d: reader %d gets %s, want %s", round, n, got, want)
				}
			}
		}
	})
}
