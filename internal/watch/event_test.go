package watch_test

import (
	"testing"

	"glasshouse/internal/watch"
)

// A once value is computed in the first call. If the computation panics, the first caller gets the panic, and the other
// callers get an error instead of a value.
func TestLazyPanics(t *testing.T) {
	get := watch.Lazy[[]byte]()
	func() {
		defer func() {
			if v := recover(); v != "broken" {
				t.Errorf("the first who asked got the panic %v", v)
			}
		}()
		_, _ = get(func() ([]byte, error) { panic("broken") })
	}()
	for range 2 {
		text, err := get(func() ([]byte, error) {
			t.Error("it is made again")
			return []byte("a text"), nil
		})
		if err == nil || text != nil {
			t.Errorf("the others get %q, %v, want an error", text, err)
		}
	}
}
