package compact_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
)

// A GuestMask keeps only the codec of the list that it masked last, so that the dictionaries of older lists are freed.
// Invariant: I14.
func TestGuestMaskKeepsOneListInMemory(t *testing.T) {
	mask := compact.NewGuestMask("", "pods")
	freed := make(chan struct{}, 10)
	for range cap(freed) {
		o := compact.Compressed(`{"kind":"Pod","metadata":{"name":"p","namespace":"a","resourceVersion":"1"},`+
			`"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"CANARY"}]}]}}`, func() {
			freed <- struct{}{}
		})
		if text, err := mask.Object(o).JSON(); err != nil || len(text) == 0 {
			t.Fatalf("masked object: got %s, error %v", text, err)
		}
	}
	runtime.GC()
	for n := range cap(freed) - 1 {
		select {
		case <-freed:
		case <-time.After(10 * time.Second):
			t.Fatalf("of %d list buffers, %d are still in memory", cap(freed), cap(freed)-n)
		}
	}
	runtime.KeepAlive(mask)
}
