package journal

import "time"

// Past returns the newest changes at or before the cursor, oldest first: at most
// limit, and fewer where the ring holds no more.
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
		} // Some have fallen off just now.
	}
}

// Kept is how many changes the ring holds, and the time after which it holds all
// of them: the zero Time is ever since the first state.
func (j *Journal[K, V, M]) Kept() (changes int, since time.Time) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.ring.count, j.ring.since
}
