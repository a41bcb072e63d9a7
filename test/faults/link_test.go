package faults

import (
	"fmt"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/link"
)

// A watch that is cut resumes from its last resourceVersion, without a relist.
//
// Invariant: I40. Each reader gets each change once. All readers get the changes in the same order. A reader that
// applies all changes has the current state.
//
// Invariant: I3, I39.
func TestWatchCutEverySecond(t *testing.T) {
	w := open(t, options{})
	check(t, w.Apply(t.Context(), w.namespace, "kept", "1"))
	rows, objects := w.startViewers(2, w.views()...), w.startViewers(2, w.object("kept"))
	before := must(w.Rows(t.Context(), w.rows()))(t)
	changes := w.startViewers(2, w.changes())
	all := append(append(changes, rows...), objects...)
	waitForState(t, 20*time.Second, "live", all...)
	lists := w.gate.Count(link.Lists("configmaps"))
	watches := w.gate.Count(link.Watches("configmaps"))
	stop := w.churn(50)
	const cuts = 8
	for range cuts {
		sleep(time.Second)
		check(t, w.up.DropConnections())
		check(t, w.Touch(t.Context(), w.namespace, "kept", 2))
	}
	stop()
	t.Logf("converged after %v", w.converges(30*time.Second, rows...))
	w.objectConverges(10*time.Second, "kept", objects...)
	w.changesConverge(10*time.Second, before, changes...)
	waitForState(t, 10*time.Second, "live", all...)
	checkNoFaults(t, rows...)
	if sum := checkNoFaults(t, objects...); sum.Patches == 0 {
		t.Error("got no patches of the object, so the test does not verify patches")
	}
	checkNoFaults(t, changes...)
	if more := w.gate.Count(link.Lists("configmaps")) - lists; more > 0 {
		t.Errorf("got %d additional lists, want 0", more)
	}
	if more := w.gate.Count(link.Watches("configmaps")) - watches; more < cuts/2 {
		t.Errorf("got only %d additional watches: the watch was not interrupted", more)
	}
}

// On a half-open connection no data arrives, but neither side closes it. HTTP/2 pings detect this.
//
// Invariant: I39.
func TestPingsDetectHalfOpenLink(t *testing.T) {
	t.Parallel()
	const ping = 5*time.Second + 5*time.Second // Ping interval plus ping timeout, as in docs/limits.md.
	w := open(t, options{})
	rows := w.startViewers(4, w.rows())
	stop := w.churn(10)
	waitForState(t, 20*time.Second, "live", rows...)
	frozen := time.Now()
	check(t, w.up.Freeze())
	detectedAfter := waitForState(t, ping+staleGrace+time.Second, "stale", rows...)
	t.Logf("interruption was detected after %v: %s", detectedAfter, rows[0].State().Reason)
	if detectedAfter < ping/2 {
		t.Errorf("interruption was detected after %v, so the link was cut and not half-open; want detection by pings",
			detectedAfter)
	}
	sleep(8 * time.Second)
	checkNotLive(t, frozen.Add(detectedAfter), time.Now(), rows...)
	w.up.ClearFaults(t.Context())
	t.Logf("live after %v", waitForState(t, 60*time.Second, "live", rows...))
	stop()
	w.converges(10*time.Second, rows...)
	checkNoFaults(t, rows...)
}

// The program closes half-open connections to clients. The clients then resume from their cursors (stream positions).
//
// Invariant: I39.
func TestPingsDetectHalfOpenLinkToClients(t *testing.T) {
	t.Parallel()
	const pingTimeout = 25*time.Second + 30*time.Second // Ping interval plus ping timeout, as in docs/api.md.
	w := open(t, options{})
	check(t, w.Apply(t.Context(), w.namespace, "kept", "1"))
	before := must(w.program.Sockets(t.Context()))(t)
	rows, objects := w.startViewers(4, w.rows()), w.startViewers(2, w.object("kept"))
	all := append(rows, objects...)
	waitForState(t, 20*time.Second, "live", all...)
	check(t, w.down.Freeze())
	check(t, w.Touch(t.Context(), w.namespace, "kept", 5))
	stop := w.churn(10)
	t.Logf("the sockets were closed after %v",
		eventually(t, pingTimeout+5*time.Second, "the sockets are closed", func() error {
			if n := must(w.program.Sockets(t.Context()))(t); n > before+tolerance {
				return fmt.Errorf("got %d sockets, %d before", n, before)
			}
			return nil
		}))
	w.down.ClearFaults(t.Context())
	stop()
	t.Logf("converged after %v", w.converges(10*time.Second, rows...))
	w.objectConverges(10*time.Second, "kept", objects...)
	for _, v := range all {
		if sum := checkNoFaults(t, v); sum.Connections < 2 || sum.Snapshots > 1 {
			t.Errorf("the viewer did not resume: %+v", sum)
		}
	}
}
