package watch_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// Every minute, each reader gets a digest (a hash) of the rows that it has received so far.
// Invariant: I8, I43.
func TestDigestsMatchRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // A fixed seed makes the test reproducible.
		there := make(map[string]bool)
		change := func() {
			ns, name := string(rune('a'+random.IntN(3))), fmt.Sprint("p", random.IntN(40))
			had := there[ns+name]
			there[ns+name] = !had || random.IntN(4) > 0
			if !there[ns+name] {
				server.Delete(pods, ns, name)
			} else {
				server.Set(pods, labelled(pod(ns, name, strconv.Itoa(random.Int())), string(rune('a'+random.IntN(2)))))
			}
		}
		readers := map[string]*reader{
			"all":        subscribe(t, cluster, query.Query{}, ""),
			"namespaces": subscribe(t, cluster, query.Query{Namespaces: []string{"a", "c"}}, ""),
			"labels":     subscribe(t, cluster, query.Query{Labels: "app=a"}, ""),
			"nothing":    subscribe(t, cluster, query.Query{Labels: "app=none"}, ""),
		}
		for range 14 {
			for range random.IntN(500) {
				change()
			}
			synctest.Wait()
			<-time.After(time.Duration(random.IntN(20)) * time.Second)
			for _, r := range readers {
				r.next()
				change()
				r.next()
			}
			for _, r := range readers {
				r.settle()
			}
		}
		for name, r := range readers {
			if r.checked < 5 {
				t.Errorf("reader of %s: got %d digests, want at least 5", name, r.checked)
			}
		}
	})
}

// A digest has the cursor of the message before it. Otherwise, the page would assume a lost message.
// Invariant: I8.
func TestDigestRepeatsLastCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, "")
		r.settle()
		var changing sync.WaitGroup
		defer changing.Wait()
		changing.Go(func() {
			for n := range 70 {
				server.Set(pods, pod("b", "q", "Running"))
				if n == 7 {
					// This change delays the next heartbeat. Otherwise, the heartbeat would be due at the time of the
					// digest, and the digest would have the new cursor of the heartbeat.
					server.Set(pods, pod("a", "p", "Failed"))
				}
				<-time.After(time.Second)
			}
		})
		for r.checked == 0 {
			before := r.cursor
			if m := r.next(); m.Type == "digest" && m.Cursor != before {
				t.Errorf("digest: got cursor %s, want that of the last message, %s", m.Cursor, before)
			}
		}
	})
}

// If a reader must restart from a snapshot, no digest (a hash of all rows) is sent before the reset.
// Invariant: I8.
func TestResetDropsDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		<-time.After(time.Minute)
		for n := range 1500 {
			server.Set(pods, pod("a", fmt.Sprint("p", n), "Running"))
		}
		synctest.Wait()
		r.next()
		r.log = nil
		<-time.After(6 * time.Minute) // Wait (in fake time) until the history has dropped the changes.
		server.Set(pods, pod("a", "late", "Running"))
		synctest.Wait()
		r.wantSettle("reset, snapshot of 1501")
		r.checked = 0
		<-time.After(time.Minute)
		r.settle()
		if r.checked == 0 {
			t.Error("got no digest after the new snapshot")
		}
	})
}

func TestObjectViewGetsNoDigests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "p"}, "")
		for start := time.Now(); time.Since(start) < 5*time.Minute; {
			r.next()
		}
		if r.checked > 0 {
			t.Errorf("reader of an object: got %d digests, want 0", r.checked)
		}
	})
}

// A digest needs a scan of all rows. So that not all scans happen at once, digests of different filters are due at
// different times.
// Invariant: I8.
func TestDigestsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		items := make([]apitest.Item, 5000)
		for n := range items {
			items[n] = pod("a", fmt.Sprint("p", n), "Running")
		}
		server.Set(pods, items...)
		const filters, sameFilter = 60, 150
		sentAt := make([]time.Time, filters+sameFilter)
		var subs []*watch.Subscription
		for n := range sentAt {
			q := query.Query{Labels: fmt.Sprint("app=", min(n, filters))}
			subs = append(subs, subscribeView(t, cluster, q, stream.Rows))
		}
		var readers sync.WaitGroup
		bytes := allocatedBy(func() {
			for n, sub := range subs {
				readers.Go(func() {
					readToType(t, sub, "digest")
					sentAt[n] = time.Now()
				})
			}
			readers.Wait()
		})
		seconds := make(map[int64]int)
		for _, at := range sentAt[:filters] {
			seconds[at.Unix()]++
		}
		for second, n := range seconds {
			if n > filters/8 {
				t.Errorf("got %d of %d digests in second %d, want at most 1/8", n, filters, second)
			}
		}
		for _, at := range sentAt[filters:] {
			if !at.Equal(sentAt[filters]) {
				t.Errorf("readers with the same filter got digests at %s and %s, want the same time", sentAt[filters], at)
			}
		}
		if each := bytes / (filters + 1); each > 250<<10 {
			t.Errorf("got %d KiB for each filter, want at most 250", each>>10)
		}
	})
}

// If the computation of a digest panics, waiting readers are woken, and one of them computes the digest again.
// Invariant: I6.
func TestDigestIsComputedAgainAfterPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		subscribe(t, cluster, query.Query{}, "").settle()
		type result struct {
			count    int
			panicked any
			computed bool
		}
		other := make(chan result, 1)
		i := cluster.Informer(pods)
		_, broken := i.FaultyDigest(t.Context(), 0, func() {
			go func() {
				var r result
				r.count, r.panicked = i.FaultyDigest(t.Context(), 0, func() { r.computed = true })
				other <- r
			}()
			synctest.Wait()
			panic("broken")
		})
		if got := <-other; broken != "broken" || got != (result{1, nil, true}) {
			t.Errorf("concurrent digests: got panic %v in the first caller and %+v in the waiting one, want a digest of one row",
				broken, got)
		}
	})
}

// A shared digest includes all changes up to the cursor of the reader.
// Invariant: I8.
func TestDigestIncludesCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		subscribe(t, cluster, query.Query{}, "").settle()
		i, later := cluster.Informer(pods), make(chan int, 1)
		before, _ := i.FaultyDigest(t.Context(), 0, func() {
			server.Set(pods, pod("a", "q", "Running"))
			synctest.Wait()
			go func() {
				count, _ := i.FaultyDigest(t.Context(), i.Now().Offset, func() {})
				later <- count
			}()
			synctest.Wait() // Wait until the reader waits for the digest in progress.
		})
		if after := <-later; before != 1 || after != 2 {
			t.Errorf("got digests of %d rows, and of %d rows after one more was added; want 1 and 2", before, after)
		}
	})
}
