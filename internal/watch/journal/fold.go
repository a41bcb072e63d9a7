package journal

// Fold merges all changes of a key into one change. If a key was added and later deleted, there is no change. The
// function continues reports whether two values are versions of the same thing, such as an object with the same UID.
// If they are not, Fold merges the changes into a Delete and an Add. The results are in the order of each key's first
// change.
//
// A merged change has the old value of the first change, the offset and time of the newest change, and an empty Memo.
// A single change of a key is returned unchanged, with its Memo. If any changes are merged, changes without a key
// (see Mark) are left out.
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

// repeats reports whether any key has more than one change. Usually there is no such key, and Fold then returns the
// changes unmodified.
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
