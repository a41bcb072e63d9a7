package faults

import (
	"fmt"
	"testing"
	"time"

	"glasshouse/test/faults/link"
)

// A watch that was cut resumes from the last resourceVersion, without a relist.
func TestWatchCutEverySecond(t *testing.T) {
	w := open(t, setting{})
	check(t, w.Apply(t.Context(), w.namespace, "kept", "1"))
	rows, objects := w.look(2, w.views()...), w.look(2, w.object("kept"))
	before := must(w.Rows(t.Context(), w.rows()))(t)
	changes := w.look(2, w.changes())
	all := append(append(changes, rows...), objects...)
	becomes(t, 20*time.Second, "live", all...)
	lists := w.gate.Count(link.Lists("configmaps"))
	watches := w.gate.Count(link.Watches("configmaps"))
	stop := w.churn(50)
	const cuts = 8
	for range cuts {
		pass(time.Second)
		check(t, w.up.Blink())
		check(t, w.Touch(t.Context(), w.namespace, "kept", 2))
	}
	stop()
	t.Logf("converged after %v", w.converges(30*time.Second, rows...))
	w.objectConverges(10*time.Second, "kept", objects...)
	w.led(10*time.Second, before, changes...)
	becomes(t, 10*time.Second, "live", all...)
	sound(t, rows...)
	sound(t, objects...)
	sound(t, changes...)
	if again := w.gate.Count(link.Lists("configmaps")) - lists; again > 0 {
		t.Errorf("listed %d times more", again)
	}
	if again := w.gate.Count(link.Watches("configmaps")) - watches; again < cuts/2 {
		t.Errorf("watched %d times more: the watch was not cut", again)
	}
}

// HTTP/2 pings detect a half-open connection, on which no data arrives and which neither side closes.
func TestHalfOpenLink(t *testing.T) {
	t.Parallel()
	const ping = 10*time.Second + 10*time.Second // From docs/reference.md.
	w := open(t, setting{})
	rows := w.look(4, w.rows())
	stop := w.churn(10)
	becomes(t, 20*time.Second, "live", rows...)
	frozen := time.Now()
	check(t, w.up.Freeze())
	noticed := becomes(t, ping+grace+time.Second, "stale", rows...)
	t.Logf("noticed after %v: %s", noticed, rows[0].State().Reason)
	if noticed < ping/2 {
		t.Errorf("it was noticed after %v, want by pings: the link was not half-open, but cut", noticed)
	}
	pass(8 * time.Second)
	notLive(t, frozen.Add(noticed), time.Now(), rows...)
	w.up.Thaw(t.Context())
	t.Logf("live after %v", becomes(t, 60*time.Second, "live", rows...))
	stop()
	w.converges(10*time.Second, rows...)
	sound(t, rows...)
}

// The program closes half-open connections to clients. The clients resume from their cursors.
func TestHalfOpenLinkToClients(t *testing.T) {
	t.Parallel()
	const pinged = 25*time.Second + 30*time.Second // From docs/api.md.
	w := open(t, setting{})
	check(t, w.Apply(t.Context(), w.namespace, "kept", "1"))
	before := must(w.program.Sockets(t.Context()))(t)
	rows, objects := w.look(4, w.rows()), w.look(2, w.object("kept"))
	all := append(rows, objects...)
	becomes(t, 20*time.Second, "live", all...)
	check(t, w.down.Freeze())
	check(t, w.Touch(t.Context(), w.namespace, "kept", 5))
	stop := w.churn(10)
	t.Logf("let go after %v", eventually(t, pinged+5*time.Second, "clients are let go", func() error {
		if n := must(w.program.Sockets(t.Context()))(t); n > before+spare {
			return fmt.Errorf("%d sockets, %d before", n, before)
		}
		return nil
	}))
	w.down.Thaw(t.Context())
	stop()
	t.Logf("converged after %v", w.converges(10*time.Second, rows...))
	w.objectConverges(10*time.Second, "kept", objects...)
	for _, v := range all {
		if sum := sound(t, v); sum.Connections < 2 || sum.Snapshots > 1 {
			t.Errorf("it did not go on from where it was: %+v", sum)
		}
	}
}
