package journal

// Fold merges all changes of each key into one change. A key that was added and later deleted gets no change. If the
// first and the last value are of different objects (continues returns false), the key gets a delete and an add.
// Results are in the order of each key's first change.
func Fold[K comparable, V, M any](changes []*Change[K, V, M], continues func(before, after V) bool) []*Change[K, V, M] {
	if !repeats(changes) {
		return changes
	}
	runs := make(map[K][]*Change[K, V, M], len(changes))
	keys := make([]K, 0, len(changes))
	for _, change := range changes {
		if change.Op == 0 { // a change without a key; see Mark
			continue
		}
		if _, seen := runs[change.Key]; !seen {
			keys = append(keys, change.Key)
		}
		runs[change.Key] = append(runs[change.Key], change)
	}
	folded := make([]*Change[K, V, M], 0, len(keys))
	for _, key := range keys {
		folded = append(folded, foldKey(runs[key], continues)...)
	}
	return folded
}

// repeats reports whether any key has more than one change. Usually, no key does, so Fold has nothing to merge.
func repeats[K comparable, V, M any](changes []*Change[K, V, M]) bool {
	if len(changes) <= 8 { // for short lists, a linear search is faster than a map
		for i, change := range changes {
			for _, before := range changes[:i] {
				if change.Key == before.Key {
					return true
				}
			}
		}
		return false
	}
	seen := make(map[K]struct{}, len(changes))
	for _, change := range changes {
		seen[change.Key] = struct{}{}
	}
	return len(seen) < len(changes)
}

func foldKey[K comparable, V, M any](run []*Change[K, V, M], continues func(before, after V) bool) []*Change[K, V, M] {
	first, last := run[0], run[len(run)-1]
	if len(run) == 1 {
		return run
	}
	existed, exists := first.Op != Add, last.Op != Delete
	// The merged change gets a new, empty Memo, because the Memo of a single change contains data about this change only.
	merged := Change[K, V, M]{Offset: last.Offset, Time: last.Time, Key: last.Key}
	remove, add := merged, merged
	remove.Op, remove.Old = Delete, first.Old
	add.Op, add.New = Add, last.New
	switch {
	case !existed && !exists:
		return nil
	case !existed:
		return []*Change[K, V, M]{&add}
	case !exists:
		return []*Change[K, V, M]{&remove}
	case !continues(first.Old, last.New):
		return []*Change[K, V, M]{&remove, &add}
	}
	merged.Op, merged.Old, merged.New = Update, first.Old, last.New
	return []*Change[K, V, M]{&merged}
}
