package journal

// BeginRead captures the history at the time of the call. The returned function reads changes from this history.
// Between BeginRead and the call of this function, a test can write to the journal.
func (j *Journal[K, V, M]) BeginRead(after Cursor, limit int) func() ([]*Change[K, V, M], error) {
	tail := j.tail.Load()
	return func() ([]*Change[K, V, M], error) {
		changes, _, _, err := tail.read(after, limit)
		return changes, err
	}
}
