package journal

// tail is the view of a journal that readers use: the changes that are in the ring. Each write publishes a new tail. A
// published tail is immutable, but its slots are not. If a slot contains a different change than expected, the ring has
// dropped the expected one.
type tail[K comparable, V, M any] struct {
	slots   slots[K, V, M]
	count   int    // The number of changes in the ring.
	offset  uint64 // The offset of the newest change.
	wakeups uint64
	closed  bool
}

// read returns the changes after the cursor, at most limit. moved means that there is something new: changes, or only a
// Nudge.
func (t *tail[K, V, M]) read(after Cursor, limit int) (changes []*Change[K, V, M], next Cursor, moved bool, err error) {
	switch {
	case after.Offset > t.offset || after.Offset < t.offset-uint64(t.count): //nolint:gosec // A count is not negative.
		return nil, after, false, ErrGone
	case after.Offset < t.offset:
		changes = t.after(after.Offset, limit)
		if changes == nil {
			return nil, after, false, ErrGone // The ring has dropped some changes in the meantime.
		}
		next = Cursor{Offset: after.Offset + uint64(len(changes)), wakeups: after.wakeups}
		if next.Offset == t.offset {
			next.wakeups = t.wakeups
		}
		return changes, next, true, nil
	case after.wakeups != t.wakeups:
		return nil, Cursor{Offset: after.Offset, wakeups: t.wakeups}, true, nil
	case t.closed:
		return nil, after, false, ErrClosed
	}
	return nil, after, false, nil
}

// after returns the first changes after an offset, at most limit. It returns nil if the ring no longer has all of them.
func (t *tail[K, V, M]) after(offset uint64, limit int) []*Change[K, V, M] {
	changes := make([]*Change[K, V, M], min(int(t.offset-offset), limit)) //nolint:gosec // At most the ring's length.
	for i := range changes {
		at := offset + uint64(i) + 1 //nolint:gosec // An index is not negative.
		change := t.slots.at(at).Load()
		if change == nil || change.Offset != at {
			return nil
		}
		changes[i] = change
	}
	return changes
}

// moved reports whether there is something new after the cursor: a change, a Nudge, or the end of the journal.
func (t *tail[K, V, M]) moved(after Cursor) bool {
	return t.offset != after.Offset || t.wakeups != after.wakeups || t.closed
}
