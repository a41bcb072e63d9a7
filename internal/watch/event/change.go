// Package event encodes changes of objects as JSON events for clients. Readers share the encoded texts.
package event

import (
	"errors"
	"sync"
	"weak"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

// Change is one add, update or delete of an object.
type Change = journal.Change[string, *compact.Object, Memo]

// Memo is data that belongs to a Change.
type Memo struct {
	Managed      *compact.Managed // nil if the change was found by a list request and not by a watch
	CoverageOnly bool             // only the set of watched namespaces changed
	Folded       *Folding         // nil for a single change
	// rowText and tableText count towards the memory limit of the history.
	rowText   Lazy[[]byte]
	tableText Lazy[[]byte]
	// delta and health can be long, so they are freed when no reader uses them.
	delta  WeakLazy[Delta]
	health WeakLazy[healthText]
	masked WeakLazy[Change] // with sensitive values masked for viewers of share links (guests)
}

// Lazy is a shared value that the first call of Get computes.
type Lazy[T any] struct {
	sync.Once

	value T
	err   error
}

// Get returns the value or error that the first call computed.
func (o *Lazy[T]) Get(compute func() (T, error)) (T, error) {
	o.Do(func() {
		// This error remains if compute panics, so that later callers do not use the zero value.
		o.err = errPanicked
		o.value, o.err = compute()
	})
	return o.value, o.err
}

var errPanicked = errors.New("the change could not be encoded; an earlier attempt panicked")

// WeakLazy is a shared value that Get computes when needed. The garbage collector can free the value after its use.
type WeakLazy[T any] struct {
	mu   sync.Mutex
	last weak.Pointer[T]
}

// Get returns the shared value. computed is true if this call computed it.
func (s *WeakLazy[T]) Get(compute func() (*T, error)) (value *T, computed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.last.Value(); last != nil {
		return last, false, nil
	}
	value, err = compute()
	if err != nil {
		return nil, false, err
	}
	s.last = weak.Make(value)
	return value, true, nil
}
