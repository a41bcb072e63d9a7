package event_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
)

// If the computation of a Lazy value panics, only the first caller of Get gets the panic. Later callers get an error
// instead of the zero value.
// Invariant: I6.
func TestLazyPanicReachesOnlyFirstCaller(t *testing.T) {
	value := new(event.Lazy[[]byte])
	func() {
		defer func() {
			if v := recover(); v != "broken" {
				t.Errorf("first Get: got panic %v, want broken", v)
			}
		}()
		_, _ = value.Get(func() ([]byte, error) { panic("broken") })
	}()
	for range 2 {
		text, err := value.Get(func() ([]byte, error) {
			t.Error("value is computed a second time")
			return []byte("a text"), nil
		})
		if err == nil || text != nil {
			t.Errorf("next Get: got %q, error %v, want an error", text, err)
		}
	}
}
