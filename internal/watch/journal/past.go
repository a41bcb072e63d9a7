package journal

import "time"

// Past returns the newest changes up to and including the cursor, oldest first. It returns at most limit, and fewer if
// the ring has no more.
func (j *Journal[K, V, M]) Past(until Cursor, limit int) []*Change[K, V, M] {
	for {
		t := j.tail.Load()
		kept := t.offset - uint64(t.count) //nolint:gosec // A count is not negative.
		if until.Offset > t.offset || until.Offset <= kept {
			return nil
		}
		n := min(int(until.Offset-kept), limit)                            //nolint:gosec // At most the count.
		if changes := t.after(until.Offset-uint64(n), n); changes != nil { //nolint:gosec // As above.
			return changes
			// Otherwise, the ring has dropped some of them meanwhile.
		}
	}
}

// Kept returns the number of changes in the ring, and the time after which the ring has all of them. A zero Time means
// since the first state.
func (j *Journal[K, V, M]) Kept() (changes int, since time.Time) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.ring.count, j.ring.since
}
