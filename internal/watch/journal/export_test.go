package journal

// BeginRead loads the present state of the history, and returns a function that reads the changes after a cursor from
// this state. Tests can write to the journal between the two calls.
func (j *Journal[K, V, M]) BeginRead(after Cursor, limit int) func() ([]*Change[K, V, M], error) {
	tail := j.tail.Load()
	return func() ([]*Change[K, V, M], error) {
		changes, _, _, err := tail.read(after, limit)
		return changes, err
	}
}
