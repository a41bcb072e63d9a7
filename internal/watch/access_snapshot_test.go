package watch_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// Readers share a list of rows only while the history contains all changes since the list was made.
func TestSharedListsAreRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		items := make([]apitest.Item, 4000)
		for n := range items {
			items[n] = pod("a", fmt.Sprint("p", n), strings.Repeat("Running", 10))
		}
		server.Set(pods, items...)
		cluster := runClusterWith(t, server, watch.Options{
			Linger: time.Minute, Ring: informer.Ring{Bytes: 64 << 10}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		})
		change := func(times int) {
			for n := range times {
				server.Set(pods, pod("a", "p0", fmt.Sprintf("%08d", n)))
			}
			synctest.Wait()
		}
		subscribe(t, cluster, query.Query{}, "").settle()
		change(1000)
		kept := cluster.WatchStatus().Entries[0].RingChanges
		begin := func() *reader {
			r := subscribe(t, cluster, query.Query{}, "")
			for m := r.next(); m.Type != "snapshot"; {
				m = r.next()
			}
			return r
		}
		first := begin()
		change(kept * 8 / 10)
		second := begin()
		change(kept * 4 / 10)
		if got := second.settle(); strings.Contains(got, "reset") || kept < 50 || len(second.rows) != 4000 {
			t.Errorf("client with a list from %d changes ago, %d retained: got %.100s, want no reset", kept*8/10, kept, got)
		}
		if got := first.settle(); !strings.Contains(got, "reset") {
			t.Errorf("client with a list from %d changes ago: got %.100s, want a reset", kept*12/10, got)
		}
	})
}

// A limited Snapshot contains the first objects in sort order, and the number of all matching ones.
// Invariant: I9.
func TestLimitedSnapshotHasFirstRows(t *testing.T) {
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			server, cluster := serveCluster(t)
			server.Set("core/v1/namespaces", apitest.Item{Name: "c"})
			server.SetColumns(pods, podRowColumns)
			random := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // A fixed seed makes the test reproducible.
			state := make(map[string]*podRow)
			subscribe(t, cluster, query.Query{}, "").settle()
			for range 40 {
				for range random.IntN(60) {
					churn(random, server, state)
				}
				synctest.Wait()
				l := randomQuery(random)
				l.q.Resource, l.q.Sort, l.q.Limit = pods, l.sort, random.IntN(2)*(1+random.IntN(80))
				if l.q.Limit > 0 {
					l.q.Offset = random.IntN(3) * random.IntN(60)
				}
				snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(), l.q, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				_, seen := l.expected(state)
				offset := min(l.q.Offset, max(len(seen)-1, 0))
				limit := len(seen) - offset
				if l.q.Limit > 0 {
					limit = min(limit, l.q.Limit)
				}
				got, want := make([]string, len(snapshot.Objects)), make([]string, limit)
				for n, o := range snapshot.Objects {
					got[n] = o.Namespace() + "/" + o.Name()
				}
				for n, th := range seen[offset : offset+limit] {
					want[n] = th.ns + "/" + th.name()
				}
				if !slices.Equal(got, want) || snapshot.Total != len(seen) ||
					(snapshot.Cursor == "") != (limit < len(seen)) {
					t.Errorf("seed %d, %+v:\ngot  %d %v, cursor %q\nwant %d %v",
						seed, l.q, snapshot.Total, got, snapshot.Cursor, len(seen), want)
				}
			}
		})
	}
}
