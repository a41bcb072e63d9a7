package journal

// BeginRead captures the history at the time of the call. The returned function reads changes after a cursor from it,
// so a test can write to the journal between BeginRead and this function.
func (j *Journal[K, V, M]) BeginRead(after Cursor, limit int) func() ([]*Change[K, V, M], error) {
	tail := j.tail.Load()
	return func() ([]*Change[K, V, M], error) {
		changes, _, _, err := tail.read(after, limit)
		return changes, err
	}
}
