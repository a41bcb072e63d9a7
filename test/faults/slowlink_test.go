package faults

import (
	"testing"
	"time"

	"glasshouse/test/faults/viewer"
)

// The program must write each message within 10 s, but an object needs half a minute on a slow connection. If the
// client requests chunks (messages in parts), it still receives the object on its first connection. The pauses
// between chunks are short.
//
// Invariant: I44.
func TestSlowLink(t *testing.T) {
	t.Parallel()
	const rate, size = 30, 1_000_000 // Rate in kB/s, size in bytes.
	w := open(t, options{})
	check(t, w.Apply(t.Context(), w.namespace, "it", randomText(size)))
	check(t, w.down.Slow(rate))
	v := viewer.New(w.url, w.object("it"))
	v.RequestChunks()
	run(t, v.Run)
	t.Logf("it has the object after %v", w.objectConverges(2*size/(1000*rate)*time.Second, "it", v))
	check(t, w.Apply(t.Context(), w.namespace, "it", randomText(size)))
	t.Logf("it has the next version after %v", w.objectConverges(2*size/(1000*rate)*time.Second, "it", v))
	const maxSilence = 10 * time.Second // For comparison: a browser reconnects after 35 s without a message.
	if sum := checkNoFaults(t, v); sum.Connections != 1 || sum.Snapshots != 1 || sum.Patches != 1 ||
		sum.Parts < 2*size>>16 {
		t.Errorf("it took more than one connection, or was sent in one piece: %+v", sum)
	} else if sum.Silence > maxSilence {
		t.Errorf("nothing was heard for %v, want %v at most", sum.Silence, maxSilence)
	} else {
		t.Logf("%d parts, %v apart at most", sum.Parts, sum.Silence)
	}
}
