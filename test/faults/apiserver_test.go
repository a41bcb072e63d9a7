package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/cluster"
	"github.com/glasshouse-project/glasshouse/test/faults/link"
)

// A restarted API server responds with 410 to old watches. The program relists, but sends clients only the changes.
//
// Invariant: I39. After any fault, such as an outage of the API server, each client has the same objects as a new list
// from the API server (a quorum read). During a fault, the page keeps its rows, and shows since when the data is not
// live.
//
// Invariant: I40.
func TestRestartOfAPIServerSendsOnlyChanges(t *testing.T) {
	server := apiServer(t)
	w := open(t, options{server: server.Addr})
	check(t, w.Apply(t.Context(), w.namespace, "kept", "1"))
	rows, objects := w.startViewers(2, append(w.views(), w.fields())...), w.startViewers(2, w.object("kept"))
	initialRows := must(w.Rows(t.Context(), w.rows()))(t)
	changes := w.startViewers(2, w.changes())
	all := append(append(changes, rows...), objects...)
	waitForState(t, 20*time.Second, "live", changes...)
	stop := w.churn(40)
	waitForState(t, 20*time.Second, "live", all...)
	before := rows[0].Tally()

	server.Kill()
	down := time.Now()
	t.Logf("stale after %v", waitForState(t, staleGrace+time.Second, "stale", all...))
	check(t, w.Touch(t.Context(), w.namespace, "kept", 3))
	sleep(3 * time.Second)
	checkNotLive(t, down.Add(staleGrace), time.Now(), all...)
	check(t, server.Start(t.Context()))
	t.Logf("the API server was unavailable for %v", time.Since(down))
	stop()
	t.Logf("converged after %v", w.converges(90*time.Second, rows...))
	w.objectConverges(10*time.Second, "kept", objects...)
	w.changesConverge(10*time.Second, initialRows, changes...)
	waitForState(t, 10*time.Second, "live", all...)
	sum := checkNoFaults(t, rows...)
	checkNoFaults(t, objects...)
	checkNoFaults(t, changes...)
	if after := rows[0].Tally(); after.Snapshots != before.Snapshots {
		t.Errorf("relist was sent as a snapshot: tally before %+v, after %+v", before, after)
	}
	if sum.Events == 0 {
		t.Error("got no events")
	}
}

// Without a watch cache, etcd itself reports a compacted revision. The program relists, but sends clients only the
// changes.
//
// Invariant: I39.
func TestCompactionSendsOnlyChanges(t *testing.T) {
	server := apiServer(t, "--watch-cache-sizes=configmaps#0")
	w := open(t, options{behindGate: server.Addr})
	for _, name := range []string{"kept", "cm-1", "cm-2"} {
		check(t, w.Apply(t.Context(), w.namespace, name, "1"))
	}
	rows, objects := w.startViewers(2, w.views()...), w.startViewers(2, w.object("kept"))
	all := append(rows, objects...)
	waitForState(t, 20*time.Second, "live", all...)
	w.converges(10*time.Second, rows...)
	lists := w.gate.Count(link.Lists("configmaps"))
	check(t, w.Apply(t.Context(), w.namespace, "cm-2", "2"))
	// Wait until the watch has sent this change: after a watch without events, client-go would relist anyway.
	w.converges(10*time.Second, rows...)

	w.up.Cut()
	check(t, w.Touch(t.Context(), w.namespace, "kept", 20))
	check(t, w.Apply(t.Context(), w.namespace, "kept", "2"))
	check(t, w.Apply(t.Context(), w.namespace, "cm-2", "3"))
	check(t, w.Delete(t.Context(), w.namespace, "cm-1"))
	check(t, w.Compact(t.Context()))
	waitForState(t, staleGrace+time.Second, "stale", all...)
	before := rows[0].Tally()
	check(t, w.up.Restore())
	t.Logf("converged after %v", w.converges(60*time.Second, rows...))
	if events := rows[0].Tally().Events - before.Events; events != 3 {
		t.Errorf(
			"got %d events, want 3 (two changed objects and one deleted object, each sent once)",
			events,
		)
	}
	w.objectConverges(10*time.Second, "kept", objects...)
	waitForState(t, 10*time.Second, "live", all...)
	checkNoFaults(t, rows...)
	checkNoFaults(t, objects...)
	if w.gate.Expired() == 0 {
		t.Error("the API server did not respond with 410, so the test is not valid")
	}
	if more := w.gate.Count(link.Lists("configmaps")) - lists; more == 0 || more > 2 {
		t.Errorf("got %d lists after 410, want 1 or 2", more)
	}
}

// The outage lasts a minute. TestClientsResumeAfterLongOutage in internal/watch simulates an outage of hours.
//
// Invariant: I39.
func TestDataIsStaleWhileAPIServerIsUnreachable(t *testing.T) {
	t.Parallel()
	w := open(t, options{})
	rows := w.startViewers(4, w.rows())
	stop := w.churn(10)
	waitForState(t, 20*time.Second, "live", rows...)
	w.up.Cut()
	down := time.Now()
	t.Logf("stale after %v", waitForState(t, staleGrace+time.Second, "stale", rows...))
	lateViewers := w.startViewers(1, w.rows())
	sleep(time.Minute)
	checkNotLive(t, down.Add(staleGrace), time.Now(), rows...)
	checkNotLive(t, down, time.Now(), lateViewers...)
	if reason := rows[0].State().Reason; !strings.Contains(reason, "connection refused") {
		t.Errorf("reason of the state is %q, want connection refused", reason)
	}
	check(t, w.up.Restore())
	// The client-go library waits at most 30 s before a retry, so 45 s are enough.
	t.Logf("live after %v", waitForState(t, 45*time.Second, "live", rows...))
	stop()
	w.converges(10*time.Second, append(rows, lateViewers...)...)
	checkNoFaults(t, append(rows, lateViewers...)...)
}

func apiServer(t *testing.T, flags ...string) *cluster.APIServer {
	t.Helper()
	c := must(cluster.Open())(t)
	server := must(c.NewAPIServer(t.Context(), t.TempDir(), flags...))(t)
	check(t, server.Start(t.Context()))
	t.Cleanup(server.Kill)
	return server
}
