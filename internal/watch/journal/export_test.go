package journal

// BeginRead starts a read. The function that it returns completes the read.
func (j *Journal[K, V, M]) BeginRead(after Cursor, limit int) func() ([]*Change[K, V, M], error) {
	tail := j.tail.Load()
	return func() ([]*Change[K, V, M], error) {
		changes, _, _, err := tail.read(after, limit)
		return changes, err
	}
}
