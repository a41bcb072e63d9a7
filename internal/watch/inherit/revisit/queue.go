package revisit

import (
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
)

// Queue contains the objects to evaluate again. It is safe for concurrent use. Create it with NewQueue.
type Queue struct {
	mu    sync.Mutex
	dirty map[graph.ID]struct{}
	// isTaken is true during the evaluation of the objects that Take has returned. They are no longer in dirty.
	isTaken bool
	wake    chan struct{} // Has a buffer of one, to keep a request during an evaluation.
}

// NewQueue returns an empty Queue.
func NewQueue() *Queue {
	return &Queue{dirty: make(map[graph.ID]struct{}), wake: make(chan struct{}, 1)}
}

// Mark adds objects, and requests an evaluation.
func (q *Queue) Mark(ids ...graph.ID) {
	if len(ids) == 0 {
		return
	}
	q.mu.Lock()
	for _, id := range ids {
		q.dirty[id] = struct{}{}
	}
	q.mu.Unlock()
	q.Wake()
}

// Wake requests an evaluation, even without objects. If an evaluation is already running, another one follows it.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Requests returns the channel with the requests for an evaluation.
func (q *Queue) Requests() <-chan struct{} { return q.wake }

// Take removes and returns all objects. Call Done after their evaluation.
func (q *Queue) Take() map[graph.ID]struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.dirty
	q.dirty, q.isTaken = make(map[graph.ID]struct{}), true
	return batch
}

// Done ends the evaluation of the objects that Take has returned.
func (q *Queue) Done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isTaken = false
}

// IsEmpty reports whether the queue contains no objects, and no evaluation is running.
func (q *Queue) IsEmpty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.dirty) == 0 && !q.isTaken
}

// Clear removes all objects.
func (q *Queue) Clear() {
	q.Take()
	q.Done()
}
