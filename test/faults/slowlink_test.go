package faults

import (
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

// The program must write each message within 10 s. A large object takes half a minute, and is sent in several messages.
//
// Invariant: I44.
func TestLargeObjectArrivesOverSlowLink(t *testing.T) {
	t.Parallel()
	const rate, size = 30, 1_000_000 // Rate in kB/s, size in bytes.
	w := open(t, options{})
	check(t, w.Apply(t.Context(), w.namespace, "it", randomText(size)))
	check(t, w.down.Slow(rate))
	v := viewer.New(w.url, w.object("it"))
	v.RequestChunks()
	run(t, v.Run)
	t.Logf("the object arrived after %v", w.objectConverges(2*size/(1000*rate)*time.Second, "it", v))
	check(t, w.Apply(t.Context(), w.namespace, "it", randomText(size)))
	t.Logf("the next version arrived after %v", w.objectConverges(2*size/(1000*rate)*time.Second, "it", v))
	const maxSilence = 10 * time.Second // Far less than the 35 s after which a browser reconnects.
	if sum := checkNoFaults(t, v); sum.Connections != 1 || sum.Snapshots != 1 || sum.Patches != 1 ||
		sum.Parts < 2*size>>16 {
		t.Errorf("got more than one connection, or no chunks: %+v", sum)
	} else if sum.Silence > maxSilence {
		t.Errorf("got no data for %v, want at most %v", sum.Silence, maxSilence)
	} else {
		t.Logf("%d chunks, at most %v apart", sum.Parts, sum.Silence)
	}
}
