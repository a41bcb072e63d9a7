package journal

// BeginRead loads the present tail of the journal. The returned function reads the changes after a cursor from that
// tail, so tests can write in between.
func (j *Journal[K, V, M]) BeginRead(after Cursor, limit int) func() ([]*Change[K, V, M], error) {
	tail := j.tail.Load()
	return func() ([]*Change[K, V, M], error) {
		changes, _, _, err := tail.read(after, limit)
		return changes, err
	}
}
