package watch_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/apitest"
)

// A list that is shared is not so old that who is given it falls off the ring while
// it is told.
func TestSharedListsAreYoung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		items := make([]apitest.Item, 4000)
		for n := range items {
			items[n] = pod("a", fmt.Sprint("p", n), strings.Repeat("Running", 10))
		}
		server.Set(pods, items...)
		cluster := runClusterWith(t, server, watch.Options{
			Linger: time.Minute, Ring: watch.Ring{Bytes: 64 << 10}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		})
		change := func(times int) {
			for n := range times {
				server.Set(pods, pod("a", "p0", fmt.Sprintf("%08d", n)))
			}
			synctest.Wait()
		}
		subscribe(t, cluster, watch.Query{}, "").settle()
		change(1000)
		kept := cluster.Ledger().Entries[0].RingChanges
		begin := func() *reader {
			r := subscribe(t, cluster, watch.Query{}, "")
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
			t.Errorf("who was given a list of %d changes ago, where %d are kept, was told %.100s", kept*8/10, kept, got)
		}
		if got := first.settle(); !strings.Contains(got, "reset") {
			t.Errorf("who was given a list of %d changes ago was told %.100s", kept*12/10, got)
		}
	})
}
