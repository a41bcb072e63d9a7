package faults

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/link"
	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

// A client gets only the changes that it missed, or a new snapshot if some were dropped.
//
// Invariant: I39, I40.
func TestClientReconnects(t *testing.T) {
	for _, test := range []struct {
		name   string
		writes int
		size   int
		resets int
	}{
		{"within the history", 300, 10, 0},
		{"beyond the history", 110, 1_000_000, 1}, // 110 MB, compressed to 80 MB, exceed the history's limit of 64 MiB.
	} {
		t.Run(test.name, func(t *testing.T) {
			w := open(t, options{})
			for _, name := range []string{"gone", "it", "cm-1", "cm-2"} {
				check(t, w.Apply(t.Context(), w.namespace, name, "1"))
			}
			objects, changes := viewer.New(w.url, w.object("it")), viewer.New(w.url, w.changes())
			all := []*viewer.Viewer{objects, changes}
			for _, want := range w.views() {
				all = append(all, viewer.New(w.url, want))
			}
			rows := all[2:]
			before := must(w.Rows(t.Context(), w.rows()))(t)
			var stops []func()
			for _, v := range all {
				stops = append(stops, run(t, v.Run))
				waitForState(t, 20*time.Second, "live", v)
			}
			w.converges(10*time.Second, rows...)
			w.objectConverges(10*time.Second, "it", objects)
			for _, stop := range stops {
				stop()
			}
			// This is the oldest change that the clients miss, so the program drops it first.
			check(t, w.Apply(t.Context(), w.namespace, "new", "1"))
			for range test.writes {
				check(t, w.Apply(t.Context(), w.namespace, "it", randomText(test.size)))
			}
			check(t, w.Delete(t.Context(), w.namespace, "gone"))
			check(t, w.Apply(t.Context(), w.namespace, "cm-1", "2"))
			for _, v := range all {
				run(t, v.Run)
			}
			t.Logf("converged after %v", w.converges(20*time.Second, rows...))
			w.objectConverges(20*time.Second, "it", objects)
			if test.resets == 0 {
				w.changesConverge(20*time.Second, before, changes)
				if n, all := len(changes.History()), test.writes+3; n < all {
					t.Errorf("got %d changes, want at least %d", n, all)
				}
			}
			for _, v := range all {
				sum, resets, resumed := checkNoFaults(t, v), test.resets, 1-test.resets
				// A window (a part of a sorted list) never resumes, and gets all its rows again.
				if v.Want().View == "window" {
					resets, resumed = 0, 0
				}
				if sum.Resets != resets || sum.Resumed != resumed || sum.Snapshots != 2-resumed {
					t.Errorf("got another number of resets, resumes or snapshots than expected for %d resets: %+v", resets, sum)
				}
			}
		})
	}
}

// A thousand clients of one resource need only one watch at the API server, even if all reconnect at once.
//
// Invariant: I45. All subscriptions and requests for the same resource, with the same namespaces and field selector,
// share one watch. For a custom resource, the guests of all share links share a second watch. When a subscription ends,
// its goroutines and sockets end too. The program exits within ten seconds of SIGTERM.
func TestThousandClientsReconnect(t *testing.T) {
	w := open(t, options{})
	check(t, w.Apply(t.Context(), w.namespace, "kept", "1"))
	waitForState(t, 20*time.Second, "live", w.startViewers(1, w.rows())...)
	lists, watches := w.gate.Count(link.Lists("configmaps")), w.gate.Count(link.Watches("configmaps"))
	viewers := w.startViewers(1000, w.rows())
	t.Logf("all live after %v", waitForState(t, 30*time.Second, "live", viewers...))
	stop := w.churn(20)
	for range 2 {
		sleep(time.Second)
		check(t, w.down.DropConnections())
		t.Logf("all live after %v", waitForState(t, 30*time.Second, "live", viewers...))
	}
	stop()
	t.Logf("converged after %v", w.converges(30*time.Second, viewers...))
	if sum := checkNoFaults(t, viewers...); sum.Connections < 2*len(viewers) || sum.Resets > 0 ||
		sum.Snapshots != len(viewers) {
		t.Errorf("not all clients resumed: %+v", sum)
	}
	if more := w.gate.Count(link.Lists("configmaps")) - lists; more > 0 {
		t.Errorf("got %d additional lists, want 0", more)
	}
	if more := w.gate.Count(link.Watches("configmaps")) - watches; more > 0 {
		t.Errorf("got %d additional watches, want 0", more)
	}
}

func randomText(size int) string {
	random := make([]byte, size*3/4)
	_, _ = rand.Read(random)
	return base64.StdEncoding.EncodeToString(random)
}

func compressibleText(size, seed int) string {
	text := make([]byte, 0, size+100)
	for i := 0; len(text) < size; i++ {
		text = fmt.Appendf(
			text, "  - name: setting-%d\n    value: %d\n    comment: as the others\n",
			i, (i*7919+seed*104729)%1_000_003,
		)
	}
	return string(text[:size])
}
