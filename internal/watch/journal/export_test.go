package journal

// BeginRead returns a function that reads from the present history. Tests can write between the two calls.
func (j *Journal[K, V, M]) BeginRead(after Cursor, limit int) func() ([]*Change[K, V, M], error) {
	tail := j.tail.Load()
	return func() ([]*Change[K, V, M], error) {
		changes, _, _, err := tail.read(after, limit)
		return changes, err
	}
}
