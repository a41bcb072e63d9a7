package journal

import "math"

// tail is the history that readers see. Each write publishes a new tail. The fields of a published tail never change,
// but the writer can overwrite the contents of the slots.
type tail[K comparable, V, M any] struct {
	slots   slots[K, V, M]
	count   int
	offset  uint64
	wakeups uint64
	closed  bool
}

// read returns at most limit changes and the next cursor. ok is true if there are changes, or if Wake was called.
func (t *tail[K, V, M]) read(cursor Cursor, limit int) (changes []*Change[K, V, M], next Cursor, ok bool, err error) {
	switch {
	case cursor.Offset > t.offset || cursor.Offset < t.offset-uint64(t.count): //nolint:gosec // A count is not negative.
		return nil, cursor, false, ErrGone
	case cursor.Offset < t.offset:
		changes = t.after(cursor.Offset, limit)
		if changes == nil {
			return nil, cursor, false, ErrGone // the ring dropped some of these changes during the read
		}
		next = Cursor{Offset: cursor.Offset + uint64(len(changes)), wakeups: cursor.wakeups}
		if next.Offset == t.offset {
			next.wakeups = t.wakeups
		}
		return changes, next, true, nil
	case cursor.wakeups != t.wakeups:
		return nil, Cursor{Offset: cursor.Offset, wakeups: t.wakeups}, true, nil
	case t.closed:
		return nil, cursor, false, ErrClosed
	}
	return nil, cursor, false, nil
}

// after returns at most limit changes after the offset, or nil if the ring has dropped one of them.
func (t *tail[K, V, M]) after(offset uint64, limit int) []*Change[K, V, M] {
	changes := make([]*Change[K, V, M], min(int(t.offset-offset), limit)) //nolint:gosec // At most the ring's length.
	for i := range changes {
		at := offset + uint64(i) + 1 //nolint:gosec // i cannot be negative.
		change := t.slots.at(at).Load()
		// If the slot has a change with another offset, a write has replaced the requested change.
		if change == nil || change.Offset != at {
			return nil
		}
		changes[i] = change
	}
	return changes
}

// keysAfter returns the keys that have changed after an offset. ok is false if the history lacks some of these changes.
func (t *tail[K, V, M]) keysAfter(offset uint64) (keys map[K]struct{}, ok bool) {
	keys = make(map[K]struct{})
	if offset == t.offset {
		return keys, true
	}
	changes, _, _, err := t.read(At(offset), math.MaxInt)
	for _, change := range changes {
		keys[change.Key] = struct{}{}
	}
	return keys, err == nil
}

// moved reports whether Next must return to a reader with this cursor: there are new changes, Wake was called, or the
// journal was closed.
func (t *tail[K, V, M]) moved(cursor Cursor) bool {
	return t.offset != cursor.Offset || t.wakeups != cursor.wakeups || t.closed
}
