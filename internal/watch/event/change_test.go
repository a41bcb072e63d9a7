package event_test

import (
	"testing"

	"glasshouse/internal/watch/event"
)

// If the computation panics, only the first caller of Get gets the panic. Later ones get an error.
// Invariant: I6.
func TestLazyPanics(t *testing.T) {
	value := new(event.Lazy[[]byte])
	func() {
		defer func() {
			if v := recover(); v != "broken" {
				t.Errorf("the first caller got the panic %v", v)
			}
		}()
		_, _ = value.Get(func() ([]byte, error) { panic("broken") })
	}()
	for range 2 {
		text, err := value.Get(func() ([]byte, error) {
			t.Error("the value is computed again")
			return []byte("a text"), nil
		})
		if err == nil || text != nil {
			t.Errorf("the other callers get %q, %v, want an error", text, err)
		}
	}
}
