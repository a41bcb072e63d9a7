// Package journal stores the current value of each key and a bounded history of changes. Readers read the changes
// after a cursor, and get ErrGone if some were dropped.
//
// All readers get the same changes in the same order, each exactly once. A Snapshot plus all changes after its cursor
// gives the current state. Waiting readers delay no writer.
package journal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrGone means that the journal has dropped changes after the reader's cursor, or that the cursor is from another
	// journal. The reader must start again with a Snapshot.
	ErrGone = errors.New("the change after this cursor is no longer in the history")
	// ErrClosed means that the journal was closed, and that the reader has read all its changes.
	ErrClosed = errors.New("the journal is closed")
	// ErrNoChange means that nothing changed before the timer of NextWithin expired.
	ErrNoChange = errors.New("no change before the timeout")
)

// A Change is one add, update or delete of a key. Its Offset is one more than the Offset of the previous Change.
type Change[K comparable, V, M any] struct {
	Offset   uint64
	Time     time.Time
	Key      K
	Old, New V
	Op       Op
	// All readers share the Memo of a Change, and store data in it that they have computed from the Change. So M must
	// support concurrent use.
	Memo M
}

// Op is the type of a Change. It is 0 for a Change without key and values (see Mark).
type Op uint8

// Types of a Change.
const (
	Add    Op = iota + 1 // New is set, and Old is not
	Update               // Old and New are set
	Delete               // Old is set, and New is not
)

// Options define how a Journal compares and measures values, and which changes it retains.
type Options[K comparable, V any] struct {
	// Same reports whether two values are equal for readers. If they are, Set replaces the value without a Change.
	Same func(before, after V) bool
	// Continues reports whether two values are versions of the same object. If not, Set creates a Delete and an Add
	// instead of an Update.
	Continues func(before, after V) bool
	// Size returns the size of a value in bytes, for the limit MaxBytes and the method Weight.
	Size func(V) int
	// Derived returns the size, in bytes, of the data that readers will store in a change's Memo. If Derived is nil,
	// the size is 0.
	Derived func(V) int
	// MaxBytes and MaxAge limit the size and the age of the changes in the history. The newest change is always kept. If
	// MaxAge is zero, no other change is kept.
	MaxBytes int
	MaxAge   time.Duration
}

// A Cursor is the position up to which a reader has read a journal.
type Cursor struct {
	Offset  uint64
	wakeups uint64
}

// At returns the Cursor for an offset, such as one that a client sent to resume.
func At(offset uint64) Cursor { return Cursor{Offset: offset} }

// An Entry is a key of a Snapshot with its value.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
}

// A Journal stores values and recent changes. It is safe for concurrent use if each key has only one writer.
type Journal[K comparable, V, M any] struct {
	// Functions in options are called while mu is locked. They must not call the Journal.
	options Options[K, V]
	tail    atomic.Pointer[tail[K, V, M]] // the history as readers see it; each write replaces it
	waiters waiters

	mu       sync.RWMutex // protects all fields below
	state    map[K]V
	weight   int
	ring     ring[K, V, M]
	nextTail tail[K, V, M] // the next value of tail; each write changes nextTail, and finally copies it to tail
}

// New returns an empty Journal.
func New[K comparable, V, M any](options Options[K, V]) *Journal[K, V, M] {
	j := &Journal[K, V, M]{options: options, state: make(map[K]V)}
	j.tail.Store(&tail[K, V, M]{})
	j.waiters.init()
	return j
}

// Set sets the value of a key. The resulting Change gets the Memo, whose size is weight bytes. If Options.Same
// returns true for the old and the new value, there is no Change.
func (j *Journal[K, V, M]) Set(key K, value V, memo M, weight int) {
	j.write(func(now time.Time) { j.setLocked(key, value, memo, weight, now) })
}

// Delete deletes a key. It does nothing if the key does not exist.
func (j *Journal[K, V, M]) Delete(key K) {
	var none M
	j.write(func(now time.Time) { j.deleteLocked(key, none, now) })
}

// Replace replaces the values of all keys for which includes returns true; next must contain only such keys. Keys that
// next lacks are deleted. Only differences create Changes: first the deletes, then the adds and updates in the order of
// next. The first call on an empty journal creates no Changes. addMemo and deleteMemo give the initial Memo of adds and
// deletes.
func (j *Journal[K, V, M]) Replace(includes func(K) bool, next []Entry[K, V], addMemo func(K) M, deleteMemo M) {
	var none M
	j.write(func(now time.Time) {
		if j.nextTail.offset == 0 {
			j.state = make(map[K]V, len(next))
			for _, e := range next {
				j.state[e.Key] = e.Value
				j.weight += j.options.Size(e.Value)
			}
			// Increase the offset without a Change, so that a reader with a cursor at offset 0 gets ErrGone, and reads a
			// Snapshot.
			j.nextTail.offset++
			return
		}
		present := make(map[K]struct{}, len(next))
		for _, e := range next {
			present[e.Key] = struct{}{}
		}
		for key := range j.state {
			if _, ok := present[key]; !ok && includes(key) {
				j.deleteLocked(key, deleteMemo, now)
			}
		}
		for _, e := range next {
			if _, ok := j.state[e.Key]; ok {
				j.setLocked(e.Key, e.Value, none, 0, now)
				continue
			}
			j.setLocked(e.Key, e.Value, addMemo(e.Key), 0, now)
		}
	})
}

// Mark stores a Change without key and values, so that cursors before and after the call differ.
func (j *Journal[K, V, M]) Mark() {
	j.write(func(now time.Time) {
		j.nextTail.offset++
		j.ring.push(&Change[K, V, M]{Offset: j.nextTail.offset, Time: now}, changeOverhead)
	})
}

// Forget drops the complete history. Readers that have not read all of it get ErrGone.
func (j *Journal[K, V, M]) Forget() {
	j.write(func(now time.Time) { j.ring = ring[K, V, M]{completeSince: now} })
}

// Trim drops changes older than MaxAge. Each write does this, too, so only a journal without writes needs Trim.
func (j *Journal[K, V, M]) Trim() {
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.publishLocked(now)
}

// Wake makes waiting calls of Next return without changes, so that readers can check data outside the journal.
func (j *Journal[K, V, M]) Wake() {
	j.write(func(time.Time) { j.nextTail.wakeups++ })
}

// Close closes the journal. Readers first get the remaining changes, and then ErrClosed. Later writes are ignored.
func (j *Journal[K, V, M]) Close() {
	j.write(func(time.Time) { j.nextTail.closed = true })
}

func (j *Journal[K, V, M]) write(change func(now time.Time)) {
	now := time.Now()
	j.mu.Lock()
	if !j.nextTail.closed {
		change(now)
		j.publishLocked(now)
	}
	j.mu.Unlock()
	j.waiters.wake()
}

// publishLocked trims the history, and publishes the result for readers. The caller must lock mu.
func (j *Journal[K, V, M]) publishLocked(now time.Time) {
	j.ring.trim(j.options.MaxBytes, now.Add(-j.options.MaxAge))
	next := j.nextTail
	next.slots, next.count = j.ring.slots, j.ring.count
	j.tail.Store(&next)
}

func (j *Journal[K, V, M]) setLocked(key K, value V, memo M, weight int, now time.Time) {
	old, ok := j.state[key]
	if ok && !j.options.Continues(old, value) {
		var none M
		j.deleteLocked(key, none, now)
		ok = false
	}
	j.weight += j.options.Size(value)
	if ok {
		j.weight -= j.options.Size(old)
	}
	j.state[key] = value
	if ok && j.options.Same(old, value) {
		return
	}
	change := &Change[K, V, M]{Key: key, New: value, Op: Add, Time: now, Memo: memo}
	if ok {
		change.Old, change.Op = old, Update
	}
	j.appendLocked(change, weight)
}

func (j *Journal[K, V, M]) deleteLocked(key K, memo M, now time.Time) {
	old, ok := j.state[key]
	if !ok {
		return
	}
	delete(j.state, key)
	j.weight -= j.options.Size(old)
	j.appendLocked(&Change[K, V, M]{Key: key, Old: old, Op: Delete, Time: now, Memo: memo}, 0)
}

func (j *Journal[K, V, M]) appendLocked(change *Change[K, V, M], weight int) {
	j.nextTail.offset++
	change.Offset = j.nextTail.offset
	weight += changeOverhead
	if change.Op != Delete {
		weight += j.options.Size(change.New)
	}
	if change.Op != Add {
		weight += j.options.Size(change.Old)
	}
	if j.options.Derived != nil {
		last := change.New
		if change.Op == Delete {
			last = change.Old
		}
		weight += j.options.Derived(last)
	}
	j.ring.push(change, weight)
}

// Next waits for changes after a cursor. It returns at most limit changes, and the cursor after them. After Wake, it
// can return without changes. Readers may modify only the Memo of a change.
func (j *Journal[K, V, M]) Next(ctx context.Context, cursor Cursor, limit int) ([]*Change[K, V, M], Cursor, error) {
	return j.NextWithin(ctx, noTimer, cursor, limit)
}

// NextWithin is like Next, but when a timer expires, it stops waiting and returns ErrNoChange. The function timer
// starts this timer, and returns its channel. NextWithin calls timer only if it must wait.
func (j *Journal[K, V, M]) NextWithin(
	ctx context.Context, timer func() <-chan time.Time, cursor Cursor, limit int,
) ([]*Change[K, V, M], Cursor, error) {
	for {
		changes, next, moved, err := j.tail.Load().read(cursor, limit)
		if moved || err != nil {
			return changes, next, err
		}
		isMoved := func() bool { return j.tail.Load().moved(cursor) }
		if err := j.waiters.wait(ctx, timer, isMoved); err != nil {
			return nil, cursor, err
		}
	}
}

func noTimer() <-chan time.Time { return nil }

// Get returns the current value of a key, whether the key exists, and the cursor after the newest change.
func (j *Journal[K, V, M]) Get(key K) (V, bool, Cursor) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	value, ok := j.state[key]
	return value, ok, j.Now()
}

// Now returns the cursor after the newest change of the journal.
func (j *Journal[K, V, M]) Now() Cursor {
	t := j.tail.Load()
	return Cursor{Offset: t.offset, wakeups: t.wakeups}
}

// Len returns the number of keys.
func (j *Journal[K, V, M]) Len() int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return len(j.state)
}

// Weight returns approximate memory sizes in bytes: state for the present keys and values, and ring for the history.
func (j *Journal[K, V, M]) Weight() (state, ring int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.weight + EntryOverhead*len(j.state), j.ring.weight
}

// WeightIn returns the approximate memory, in bytes, of the present keys for which includes returns true, and of their
// values. It does not count the history.
func (j *Journal[K, V, M]) WeightIn(includes func(K) bool) (state int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	for key, value := range j.state {
		if includes(key) {
			state += j.options.Size(value) + EntryOverhead
		}
	}
	return state
}
