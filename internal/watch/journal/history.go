package journal

import "time"

// History returns changes from the history: the newest ones up to and including the cursor, oldest first. It returns at
// most limit changes, and fewer if the ring has no more.
func (j *Journal[K, V, M]) History(until Cursor, limit int) []*Change[K, V, M] {
	for {
		t := j.tail.Load()
		lastDropped := t.offset - uint64(t.count) //nolint:gosec // A count is not negative.
		if until.Offset > t.offset || until.Offset <= lastDropped {
			return nil
		}
		n := min(int(until.Offset-lastDropped), limit)                     //nolint:gosec // At most the ring's length.
		if changes := t.after(until.Offset-uint64(n), n); changes != nil { //nolint:gosec // n is not negative.
			return changes
			// If changes is nil, the ring has dropped some of the changes in the meantime: try again.
		}
	}
}

// Retained returns the number of changes in the ring. completeSince is the time after which the ring has all changes;
// it is zero if the ring has all changes since the first state.
func (j *Journal[K, V, M]) Retained() (changes int, completeSince time.Time) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.ring.count, j.ring.completeSince
}
