// Package event encodes changes of objects as messages, once for all readers that need the same text.
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

// Memo is the data that belongs to a change: the managedFields that arrived with it, and texts that are encoded
// from it once and shared by all readers. The row texts stay in memory as long as the change, and its size includes
// them.
//
// A Delta can be as long as the uncompressed object, so it is freed with its last reference. So is the health, which
// few readers need.
type Memo struct {
	Managed      *listwatch.Managed // Nil if a list brought the change.
	CoverageOnly bool               // The object did not change: its namespace became visible or was lost.
	Folded       *Folding           // The changes that were merged into this update; otherwise nil.
	rowText      Lazy[[]byte]
	tableText    Lazy[[]byte]
	delta        WeakLazy[Delta]
	health       WeakLazy[healthText]
	Masked       WeakLazy[Change] // The Change as guests see it.
}

// Lazy is a value that the first caller of Get computes, and that all other callers share.
type Lazy[T any] struct {
	sync.Once

	value T
	err   error
}

// Get returns the value, or the error of its computation.
func (o *Lazy[T]) Get(compute func() (T, error)) (T, error) {
	o.Do(func() {
		// This error remains if compute panics, so that other callers do not use the zero value as a result.
		o.err = errPanicked
		o.value, o.err = compute()
	})
	return o.value, o.err
}

var errPanicked = errors.New("the computation of a shared value panicked")

// WeakLazy is a value that the first caller of Get computes. Other callers get the same value as long as it is
// referenced. After that, the next caller computes it again.
type WeakLazy[T any] struct {
	mu   sync.Mutex
	last weak.Pointer[T]
}

// Get returns the value, and whether this call computed it.
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
