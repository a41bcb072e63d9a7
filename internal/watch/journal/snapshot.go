package journal

// keysPerLock is the number of keys that Snapshot copies before it releases the lock for a moment.
const keysPerLock = 2048

// Snapshot returns all keys and values at one moment, in random order, and the cursor of that moment. A writer waits at
// most while Snapshot copies keysPerLock keys.
func (j *Journal[K, V, M]) Snapshot() ([]Entry[K, V], Cursor) {
	for {
		if entries, cursor, ok := j.snapshot(); ok {
			return entries, cursor
		}
	}
}

// snapshot copies the values in steps, and then applies the changes since its start. It returns false if the history
// no longer contains all these changes.
func (j *Journal[K, V, M]) snapshot() ([]Entry[K, V], Cursor, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	start := j.nextTail.offset
	entries := make([]Entry[K, V], 0, len(j.state))
	// The map can change during this iteration. The iteration can then miss added keys (Go specification, "For
	// statements with range clause"). catchUp corrects this.
	state := j.state
	for key, value := range state {
		entries = append(entries, Entry[K, V]{key, value})
		if len(entries)%keysPerLock == 0 {
			j.mu.RUnlock()
			j.mu.RLock()
		}
	}
	changed, ok := j.tail.Load().keysAfter(start)
	if !ok {
		return nil, Cursor{}, false
	}
	return catchUp(entries, changed, j.state), j.Now(), true
}

// catchUp updates the entries of the changed keys to the current values. It reuses the array of entries.
func catchUp[K comparable, V any](entries []Entry[K, V], changed map[K]struct{}, present map[K]V) []Entry[K, V] {
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
		if value, ok := present[key]; ok {
			updated = append(updated, Entry[K, V]{key, value})
		}
	}
	return updated
}
