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

// Memo is additional data of a Change, such as its encoded events.
type Memo struct {
	Managed      *compact.Managed // nil for a change that a list found: only watch events have managedFields
	CoverageOnly bool             // the object did not change, only the set of watched namespaces
	Folded       *Folding         // the changes that were merged into this one; nil for a single change
	// rowText and tableText are encoded events. They count toward the memory limit of the history.
	rowText   Lazy[[]byte]
	tableText Lazy[[]byte]
	// The values of delta and health can be long. Therefore, the Memo has only weak references to them, so that they are
	// freed when no reader uses them.
	delta  WeakLazy[Delta]
	health WeakLazy[healthText]
	masked WeakLazy[Change] // the change with sensitive values masked for guests (viewers of share links)
}

// Lazy is a shared value. The first call of Get computes it.
type Lazy[T any] struct {
	sync.Once

	value T
	err   error
}

// Get returns the result of the first call, which is a value or an error. Only the first call computes it.
func (l *Lazy[T]) Get(compute func() (T, error)) (T, error) {
	l.Do(func() {
		// If compute panics, this error remains, so that later callers do not get the zero value.
		l.err = errPanicked
		l.value, l.err = compute()
	})
	return l.value, l.err
}

var errPanicked = errors.New("the change could not be encoded; an earlier attempt panicked")

// WeakLazy is a shared value that Get computes if it is not in memory. The garbage collector can free the value when no
// caller uses it any more.
type WeakLazy[T any] struct {
	mu   sync.Mutex
	last weak.Pointer[T]
}

// Get returns the shared value. computed reports whether this call computed it.
func (w *WeakLazy[T]) Get(compute func() (*T, error)) (value *T, computed bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := w.last.Value(); last != nil {
		return last, false, nil
	}
	value, err = compute()
	if err != nil {
		return nil, false, err
	}
	w.last = weak.Make(value)
	return value, true, nil
}
