package shared_test

import (
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// Readers end their batches of changes at the same offset, the boundary, so that they can share texts. If the batch of
// a reader begins at the boundary, the boundary moves to the newest offset.
// Invariant: I4.
func TestBatchBoundariesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		batches := new(shared.Batches)
		const a = 100
		for _, test := range []struct {
			after           time.Duration
			from, now, want uint64
		}{
			{0, 90, a, a},
			{10 * time.Millisecond, 95, a + 5, a},
			{15 * time.Millisecond, 80, a + 9, a},
			{time.Millisecond, 90, a + 10, a + 10}, // The boundary is older than 25 ms: 10 + 15 + 1 ms.
			{0, a + 10, a + 11, a + 11},            // The batch begins at the last boundary, so it gets a new boundary.
			{0, 90, a + 12, a + 11},
		} {
			<-time.After(test.after)
			got := batches.Boundary(
				query.FilterID{}, test.from, 25*time.Millisecond, func() uint64 { return test.now },
			)
			if got != test.want {
				t.Errorf("after %s: boundary from %d, now %d: got %d, want %d",
					test.after, test.from, test.now, got, test.want)
			}
		}
	})
}

// Readers share an encoded batch only if the view, the filter, the columns and the offsets are the same.
// Invariant: I4.
func TestBatchesAreEncodedOnce(t *testing.T) {
	batches := new(shared.Batches)
	written := 0
	var texts []*[]byte
	request := func(view string, filter byte, version int, from, to uint64) string {
		key := shared.BatchKey{View: view, Filter: query.FilterID{filter}, Version: version, From: from, To: to}
		got, err := batches.Text(key, func() (*[]byte, error) {
			written++
			text := []byte(strconv.Itoa(written))
			return &text, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, got)
		return string(*got)
	}
	for range 2 {
		for n, got := range []string{
			request("rows", 1, 1, 1, 5), request("table", 1, 1, 1, 5), request("rows", 2, 1, 1, 5),
			request("rows", 1, 2, 1, 5), request("rows", 1, 1, 2, 5), request("rows", 1, 1, 1, 6),
		} {
			if want := strconv.Itoa(n + 1); got != want {
				t.Errorf("batch %d: got the text of batch %s", n+1, got)
			}
		}
	}
	runtime.GC()
	if before := written; request("rows", 1, 1, 1, 5) != "1" || written != before {
		t.Error("a batch in use is encoded again")
	}
	for n := range uint64(1000) {
		request("rows", 1, 1, n, n+10)
	}
	if before := written; request("rows", 1, 1, 1, 5) != strconv.Itoa(before+1) {
		t.Error("an old batch is still cached")
	}
	runtime.KeepAlive(texts)
}
