package journal

// HeldUp begins to read, and is held up until what it returns is called.
func (j *Journal[K, V, M]) HeldUp(after Cursor, limit int) func() ([]*Change[K, V, M], error) {
	tail := j.tail.Load()
	return func() ([]*Change[K, V, M], error) {
		changes, _, _, err := tail.read(after, limit)
		return changes, err
	}
}
