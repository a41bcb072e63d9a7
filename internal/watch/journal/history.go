package journal

import "time"

// History returns the newest changes in the history up to a cursor, oldest first. It returns at most limit changes.
func (j *Journal[K, V, M]) History(cursor Cursor, limit int) []*Change[K, V, M] {
	for {
		t := j.tail.Load()
		lastDropped := t.offset - uint64(t.count) //nolint:gosec // A count is not negative.
		if cursor.Offset > t.offset || cursor.Offset <= lastDropped {
			return nil
		}
		n := min(int(cursor.Offset-lastDropped), limit)                     //nolint:gosec // At most the ring's length.
		if changes := t.after(cursor.Offset-uint64(n), n); changes != nil { //nolint:gosec // n is not negative.
			return changes
			// If t.after returns nil, a write has just dropped some of the requested changes. Retry with the new history.
		}
	}
}

// RetainsAfter reports whether the history contains all changes after an offset.
func (j *Journal[K, V, M]) RetainsAfter(offset uint64) bool {
	return offset == j.Now().Offset || len(j.History(At(offset+1), 1)) > 0
}

// Retained returns the number of changes in the history. The history contains all changes after the time completeSince,
// which is zero if no change was dropped yet.
func (j *Journal[K, V, M]) Retained() (changes int, completeSince time.Time) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.ring.count, j.ring.completeSince
}
