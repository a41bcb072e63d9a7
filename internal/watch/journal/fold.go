package journal

// Fold merges the changes of each key into at most one. If the value was replaced by a different thing, as continues
// decides, it merges them into a Delete and an Add. Old of a merged change is the value before all of the key's
// changes. If a key has only one change, Fold returns that change unchanged, with its Memo. The result is in the order
// of each key's first change.
//
// A merged change has the offset and time of the newest change that it replaces, and an empty Memo. If anything is
// merged, the marks (see Mark) are removed from the result.
func Fold[K comparable, V, M any](changes []*Change[K, V, M], continues func(before, after V) bool) []*Change[K, V, M] {
	if !repeats(changes) {
		return changes
	}
	runs := make(map[K][]*Change[K, V, M], len(changes))
	keys := make([]K, 0, len(changes))
	for _, change := range changes {
		if change.Op == 0 { // The change is only a mark, without an object.
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

// repeats reports whether a key has more than one change. Usually none has, and every reader calls Fold.
func repeats[K comparable, V, M any](changes []*Change[K, V, M]) bool {
	if len(changes) <= 8 { // A linear search is faster than a map here.
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
