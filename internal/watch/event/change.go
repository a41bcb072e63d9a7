// Package event encodes changes of objects as JSON events for clients. Readers that need the same text share it, so
// that it is encoded only once.
package event

import (
	"errors"
	"sync"
	"weak"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
)

// Change is one add, update or delete of an object.
type Change = journal.Change[string, *listwatch.Object, Memo]

// Memo is data that belongs to a Change: the managedFields of the object, and texts that are encoded once and shared
// by all readers.
//
// rowText and tableText stay in memory as long as the Change, and count towards the memory limit of the history.
// delta and health are freed when no reader uses them any more, because they can be long, and few readers need them.
type Memo struct {
	Managed      *listwatch.Managed // nil if the change was found by a list and not by a watch
	CoverageOnly bool               // the object did not change; only the set of watched namespaces did
	Folded       *Folding           // the changes that were merged into this update; nil if it is a single change
	rowText      Lazy[[]byte]
	tableText    Lazy[[]byte]
	delta        WeakLazy[Delta]
	health       WeakLazy[healthText]
	Masked       WeakLazy[Change] // the Change with sensitive values masked for guests (viewers of share links)
}

// Lazy is a value that the first call of Get computes. All callers share it.
type Lazy[T any] struct {
	sync.Once

	value T
	err   error
}

// Get returns the value or error that the first call computed.
func (o *Lazy[T]) Get(compute func() (T, error)) (T, error) {
	o.Do(func() {
		// If compute panics, this error remains, so that later callers do not use the zero value.
		o.err = errPanicked
		o.value, o.err = compute()
	})
	return o.value, o.err
}

var errPanicked = errors.New("the change could not be encoded; an earlier attempt panicked")

// WeakLazy is a value that Get computes when it is needed. All callers share the value while at least one of them
// references it. After that, the garbage collector frees the value, and the next call computes it again.
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
