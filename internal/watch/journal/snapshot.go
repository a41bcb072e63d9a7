package journal

import "math"

// keysPerLock is the number of keys that a Snapshot copies before it unlocks the journal, so that the writer can
// continue.
const keysPerLock = 2048

// Snapshot returns every key and value at one moment, in no order, and the cursor of that moment. The writer never
// waits longer than it takes to copy a few thousand keys. Changes during the copy are then read from the ring.
func (j *Journal[K, V, M]) Snapshot() ([]Entry[K, V], Cursor) {
	for {
		if entries, cursor, ok := j.snapshot(); ok {
			return entries, cursor
		}
	}
}

// snapshot copies the state in steps, then updates the copy to the present state. It returns false if the ring no
// longer has all changes since the start.
func (j *Journal[K, V, M]) snapshot() ([]Entry[K, V], Cursor, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	start := j.nextTail.offset
	entries := make([]Entry[K, V], 0, len(j.state))
	// A map may change between two steps of its iteration. Entries that are added may be visited or not, and entries
	// that are removed are not (the Go specification, "For statements with range clause"). In both cases catchUpLocked
	// corrects the copy.
	state := j.state
	for key, value := range state {
		entries = append(entries, Entry[K, V]{key, value})
		if len(entries)%keysPerLock == 0 {
			j.mu.RUnlock()
			j.mu.RLock()
		}
	}
	changed, ok := j.changedLocked(start)
	if !ok {
		return nil, Cursor{}, false
	}
	return j.catchUpLocked(entries, changed), j.Now(), true
}

// changedLocked returns the keys that have changed since an offset. It returns false if the ring no longer has all of
// these changes.
func (j *Journal[K, V, M]) changedLocked(since uint64) (map[K]struct{}, bool) {
	changed := make(map[K]struct{})
	if since == j.nextTail.offset {
		return changed, true
	}
	changes, _, _, err := j.tail.Load().read(At(since), math.MaxInt)
	for _, change := range changes {
		changed[change.Key] = struct{}{}
	}
	return changed, err == nil
}

func (j *Journal[K, V, M]) catchUpLocked(entries []Entry[K, V], changed map[K]struct{}) []Entry[K, V] {
	if len(changed) == 0 {
		return entries
	}
	updated := entries[:0]
	for _, e := range entries {
		if _, ok := changed[e.Key]; !ok {
			updated = append(updated, e)
		}
	}
	for key := range changed {
		if value, ok := j.state[key]; ok {
			updated = append(updated, Entry[K, V]{key, value})
		}
	}
	return updated
}
