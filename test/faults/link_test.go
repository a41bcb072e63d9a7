package faults

import (
	"testing"
	"time"

	"glasshouse/test/faults/link"
)

// A watch that is cut is gone on with, from where it was: nothing is listed again.
func TestWatchCutEverySecond(t *testing.T) {
	w := open(t, setting{})
	check(t, w.Apply(t.Context(), w.namespace, "kept", "1"))
	rows, objects := w.look(4, w.rows()), w.look(2, w.object("kept"))
	becomes(t, 20*time.Second, "live", append(rows, objects...)...)
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
	becomes(t, 10*time.Second, "live", append(rows, objects...)...)
	sound(t, rows...)
	sound(t, objects...)
	if again := w.gate.Count(link.Lists("configmaps")) - lists; again > 0 {
		t.Errorf("listed %d times more", again)
	}
	if again := w.gate.Count(link.Watches("configmaps")) - watches; again < cuts/2 {
		t.Errorf("watched %d times more: the watch was not cut", again)
	}
}

// A link on which nothing comes, and which nobody closes, is noticed by HTTP/2's pings. client-go's 30 s and 15 s are
// shortened here, to see them work.
func TestHalfOpenLink(t *testing.T) {
	t.Parallel()
	w := open(t, setting{env: []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS=2", "HTTP2_PING_TIMEOUT_SECONDS=1"}})
	rows := w.look(4, w.rows())
	stop := w.churn(10)
	becomes(t, 20*time.Second, "live", rows...)
	check(t, w.up.Freeze())
	frozen := time.Now()
	noticed := becomes(t, 3*time.Second+grace+time.Second, "stale", rows...)
	t.Logf("noticed after %v", noticed)
	pass(8 * time.Second)
	notLive(t, frozen.Add(noticed), time.Now(), rows...)
	w.up.Thaw(t.Context())
	t.Logf("live after %v", becomes(t, 60*time.Second, "live", rows...))
	stop()
	w.converges(10*time.Second, rows...)
	sound(t, rows...)
}
