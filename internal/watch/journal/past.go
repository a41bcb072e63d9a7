package journal

import "time"

// Past returns the newest changes at or before the cursor, oldest first: at most
// limit, and fewer where the ring holds no more.
func (j *Journal[K, V, M]) Past(until Cursor, limit int) []*Change[K, V, M] {
	j.mu.RLock()
	defer j.mu.RUnlock()
	oldest := j.offset - uint64(j.ring.len()) // The newest that is not kept.
	if until.Offset > j.offset || until.Offset <= oldest {
		return nil
	}
	n := min(int(until.Offset-oldest), limit)
	return j.ring.last(int(j.offset-until.Offset)+n, n)
}

// Since is the time after which the ring holds every change; zero is ever since
// the first state.
func (j *Journal[K, V, M]) Since() time.Time {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.ring.since
}
