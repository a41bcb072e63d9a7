package faults

import (
	"strings"
	"testing"
	"time"

	"glasshouse/test/faults/cluster"
	"glasshouse/test/faults/link"
)

// An API server is killed and restarted. It then no longer knows old resourceVersions, and responds with 410 to watches
// from them. The program relists, and clients receive only the changes.
func TestAPIServerKilledAndRestarted(t *testing.T) {
	own := apiServer(t)
	w := open(t, setting{server: own.Addr})
	check(t, w.Apply(t.Context(), w.namespace, "kept", "1"))
	rows, objects := w.look(2, append(w.views(), w.fields())...), w.look(2, w.object("kept"))
	held := must(w.Rows(t.Context(), w.rows()))(t)
	changes := w.look(2, w.changes())
	all := append(append(changes, rows...), objects...)
	becomes(t, 20*time.Second, "live", changes...)
	stop := w.churn(40)
	becomes(t, 20*time.Second, "live", all...)
	before := rows[0].Tally()

	own.Kill()
	down := time.Now()
	t.Logf("stale after %v", becomes(t, grace+time.Second, "stale", all...))
	check(t, w.Touch(t.Context(), w.namespace, "kept", 3))
	pass(3 * time.Second)
	notLive(t, down.Add(grace), time.Now(), all...)
	check(t, own.Start(t.Context()))
	t.Logf("the API server was away for %v", time.Since(down))
	stop()
	t.Logf("converged after %v", w.converges(90*time.Second, rows...))
	w.objectConverges(10*time.Second, "kept", objects...)
	w.led(10*time.Second, held, changes...)
	becomes(t, 10*time.Second, "live", all...)
	sum := sound(t, rows...)
	sound(t, objects...)
	sound(t, changes...)
	if after := rows[0].Tally(); after.Snapshots != before.Snapshots {
		t.Errorf("a relist was told as a snapshot: %+v, then %+v", before, after)
	}
	if sum.Events == 0 {
		t.Error("nothing was told")
	}
}

// A watch cannot start from a revision that etcd has compacted. In this test the API server has no watch cache, so that
// etcd itself reports this.
func TestEtcdCompaction(t *testing.T) {
	own := apiServer(t, "--watch-cache-sizes=configmaps#0")
	w := open(t, setting{behindGate: own.Addr})
	for _, name := range []string{"kept", "cm-1", "cm-2"} {
		check(t, w.Apply(t.Context(), w.namespace, name, "1"))
	}
	rows, objects := w.look(2, w.views()...), w.look(2, w.object("kept"))
	all := append(rows, objects...)
	becomes(t, 20*time.Second, "live", all...)
	w.converges(10*time.Second, rows...)
	lists := w.gate.Count(link.Lists("configmaps"))
	check(t, w.Apply(t.Context(), w.namespace, "cm-2", "2"))
	w.converges(10*time.Second, rows...) // An event is needed: client-go relists after a watch without any.

	w.up.Cut()
	check(t, w.Touch(t.Context(), w.namespace, "kept", 20))
	check(t, w.Apply(t.Context(), w.namespace, "kept", "2")) // It no longer matches the selector odd=true.
	check(t, w.Apply(t.Context(), w.namespace, "cm-2", "3")) // It starts to match the selector.
	check(t, w.Delete(t.Context(), w.namespace, "cm-1"))
	check(t, w.Compact(t.Context()))
	becomes(t, grace+time.Second, "stale", all...)
	before := rows[0].Tally()
	check(t, w.up.Mend())
	t.Logf("converged after %v", w.converges(60*time.Second, rows...))
	if told := rows[0].Tally().Events - before.Events; told != 3 {
		t.Errorf(
			"%d events, of two that are others and one that is gone: "+
				"what a watch told and a list tells again is the same",
			told,
		)
	}
	w.objectConverges(10*time.Second, "kept", objects...)
	becomes(t, 10*time.Second, "live", all...)
	sound(t, rows...)
	sound(t, objects...)
	if w.gate.Expired() == 0 {
		t.Error("the API server never answered 410: this test tests nothing")
	}
	if again := w.gate.Count(link.Lists("configmaps")) - lists; again == 0 || again > 2 {
		t.Errorf("listed %d times after 410, want once", again)
	}
}

// The API server cannot be reached for a minute. During this time, no state is live. When the API server is available
// again, the program reconnects. TestAwayForLong of internal/watch simulates hours.
func TestAPIServerAway(t *testing.T) {
	t.Parallel()
	w := open(t, setting{})
	rows := w.look(4, w.rows())
	stop := w.churn(10)
	becomes(t, 20*time.Second, "live", rows...)
	w.up.Cut()
	down := time.Now()
	t.Logf("stale after %v", becomes(t, grace+time.Second, "stale", rows...))
	late := w.look(1, w.rows())
	pass(time.Minute)
	notLive(t, down.Add(grace), time.Now(), rows...)
	notLive(t, down, time.Now(), late...)
	if reason := rows[0].State().Reason; !strings.Contains(reason, "connection refused") {
		t.Errorf("the state's reason is %q", reason)
	}
	check(t, w.up.Mend())
	t.Logf("live after %v", becomes(t, 45*time.Second, "live", rows...)) // client-go retries at least every 30 s.
	stop()
	w.converges(10*time.Second, append(rows, late...)...)
	sound(t, append(rows, late...)...)
}

// apiServer starts an additional API server, which ends with the test.
func apiServer(t *testing.T, flags ...string) *cluster.APIServer {
	t.Helper()
	c := must(cluster.Open())(t)
	own := must(c.NewAPIServer(t.Context(), t.TempDir(), flags...))(t)
	check(t, own.Start(t.Context()))
	t.Cleanup(own.Kill)
	return own
}
