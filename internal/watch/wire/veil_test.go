package wire_test

import (
	"runtime"
	"testing"
	"time"

	"glasshouse/internal/watch/wire"
)

// A Veil that has masked the objects of many lists keeps only the last list in memory.
func TestVeilHoldsOneList(t *testing.T) {
	veil := wire.NewVeil("", "pods")
	gone := make(chan struct{}, 10)
	for range cap(gone) {
		o := wire.Compressed(`{"kind":"Pod","metadata":{"name":"p","namespace":"a","resourceVersion":"1"},`+
			`"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"CANARY"}]}]}}`, func() {
			gone <- struct{}{}
		})
		if text, err := veil.Object(o).JSON(); err != nil || len(text) == 0 {
			t.Fatalf("%s, %v", text, err)
		}
	}
	runtime.GC()
	for n := range cap(gone) - 1 {
		select {
		case <-gone:
		case <-time.After(10 * time.Second):
			t.Fatalf("of %d lists %d are held", cap(gone), cap(gone)-n)
		}
	}
	runtime.KeepAlive(veil)
}
