// Package journal stores the present value of each key and a bounded history of changes. Readers read the changes
// after a cursor, which is a position in the history.
//
// Writers set and delete values by key. Each change gets the next offset, and is stored in a ring buffer. The only
// state of a reader is its Cursor. Therefore, a waiting reader needs no buffer, and delays neither writers nor other
// readers. A slow reader reads all missed changes in one larger batch. If the ring has dropped some of these changes,
// the reader gets ErrGone.
//
// Guarantees:
//   - A Snapshot matches its cursor exactly: the snapshot plus all changes after the cursor gives the present state.
//   - All readers get the same changes in the same order, each exactly once.
//   - A writer never waits for readers of changes. It wakes all of them in constant time, by a goroutine that it
//     starts. It starts none while an earlier one has not woken the readers yet.
//   - A Snapshot delays a writer only while it copies a few thousand keys.
//
// A Journal has one lock, which protects the present values. Reading changes does not need this lock. The functions
// in Options are called while the lock is in use, so they must be fast and must not call the Journal.
package journal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrGone means that the changes after a cursor are no longer in the history, or that the cursor belongs to
	// another journal. The reader must start again from a Snapshot.
	ErrGone = errors.New("the change after this cursor is no longer in the history")
	// ErrClosed means that the journal was closed, and that the reader has read all its changes.
	ErrClosed = errors.New("the journal is closed")
	// ErrNoChange means that nothing changed before the timer of NextWithin expired.
	ErrNoChange = errors.New("nothing has changed")
)

// A Change is one add, update or delete of a key. Each Change has the offset of the previous Change plus 1.
//
// The field Memo is additional data of this change. The writer passes a part of it to SetWith. Readers derive the
// rest from the change: the first reader computes it, and all readers share it. Therefore, the type M must be safe
// for concurrent use. The Memo is freed with the change.
type Change[K comparable, V, M any] struct {
	Offset   uint64
	Time     time.Time
	Key      K
	Old, New V
	Op       Op
	Memo     M
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
	// Continues reports whether two values of a key are versions of the same thing, such as an object with the same
	// UID. If they are not, Set creates a Delete and an Add instead of an Update.
	Continues func(before, after V) bool
	// Size returns the size of a value in bytes, for the limit MaxBytes and the method Weight.
	Size func(V) int
	// Derived returns the size, in bytes, of the data that readers will store in the Memo of a change to this value.
	// If the function is nil, readers store nothing.
	Derived func(V) int
	// MaxBytes and MaxAge limit the total size and the age of the changes in the history. The newest change is never
	// dropped. If MaxAge is zero, the history contains only the newest change.
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

// A Journal stores the present values and the recent changes of a set of keys. It is safe for concurrent readers.
// Several writers can use it concurrently if each key has only one writer.
type Journal[K comparable, V, M any] struct {
	options Options[K, V]
	tail    atomic.Pointer[tail[K, V, M]] // what readers see of the history; each write replaces it
	waiters waiters

	mu       sync.RWMutex // protects all fields below
	state    map[K]V
	weight   int
	ring     ring[K, V, M]
	nextTail tail[K, V, M] // the next value of the field tail; the present write fills it, and publishes it at its end
}

// New returns an empty Journal.
func New[K comparable, V, M any](options Options[K, V]) *Journal[K, V, M] {
	j := &Journal[K, V, M]{options: options, state: make(map[K]V)}
	j.tail.Store(&tail[K, V, M]{})
	j.waiters.init()
	return j
}

// Set sets the value of a key.
func (j *Journal[K, V, M]) Set(key K, value V) {
	var none M
	j.SetWith(key, value, none, 0)
}

// SetWith sets the value of a key, and the initial Memo of the resulting change. The parameter weight is the size of
// the Memo in bytes. If the old and the new value are the same according to Options.Same, there is no change, and the
// Memo is discarded.
func (j *Journal[K, V, M]) SetWith(key K, value V, memo M, weight int) {
	j.write(func(now time.Time) { j.setLocked(key, value, memo, weight, now) })
}

// Delete deletes a key. It does nothing if the key does not exist.
func (j *Journal[K, V, M]) Delete(key K) {
	var none M
	j.write(func(now time.Time) { j.deleteLocked(key, none, now) })
}

// Replace replaces all keys and values by those in the slice next. Only the differences become changes: first the
// deletes, then the adds and updates in the order of the slice. The journal does not keep the slice.
//
// The first call on an empty journal creates no changes. It uses one offset, so that a reader with an older cursor
// gets ErrGone.
func (j *Journal[K, V, M]) Replace(next []Entry[K, V]) {
	var none M
	j.ReplaceIn(func(K) bool { return true }, next, func(K) M { return none }, none)
}

// ReplaceIn is like Replace, but only for some keys: those for which includes(key) is true. Other keys stay
// unchanged. The slice next must not contain other keys. The function addMemo returns the initial Memo for the add of
// a key, and deleteMemo is the initial Memo of each delete. Updates have an empty Memo.
func (j *Journal[K, V, M]) ReplaceIn(includes func(K) bool, next []Entry[K, V], addMemo func(K) M, deleteMemo M) {
	var none M
	j.write(func(now time.Time) {
		if j.nextTail.offset == 0 {
			j.state = make(map[K]V, len(next))
			for _, e := range next {
				j.state[e.Key] = e.Value
				j.weight += j.options.Size(e.Value)
			}
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

// Mark stores a Change without key and values. It uses one offset, so that a cursor from before the call differs from
// a cursor from after it.
func (j *Journal[K, V, M]) Mark() {
	j.write(func(now time.Time) {
		j.nextTail.offset++
		j.ring.push(&Change[K, V, M]{Offset: j.nextTail.offset, Time: now}, changeOverhead)
	})
}

// Forget drops the complete history. Readers that have not read all of it get ErrGone, and must start again from a
// Snapshot.
func (j *Journal[K, V, M]) Forget() {
	j.write(func(now time.Time) { j.ring = ring[K, V, M]{completeSince: now} })
}

// Trim drops changes that are older than MaxAge. Each write also drops them, so only a journal without writes needs
// Trim.
func (j *Journal[K, V, M]) Trim() {
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.trimLocked(now)
	j.publishLocked()
}

func (j *Journal[K, V, M]) trimLocked(now time.Time) {
	j.ring.trim(j.options.MaxBytes, now.Add(-j.options.MaxAge))
}

// Wake makes waiting readers return without changes, so that they can check data outside the journal.
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
		j.trimLocked(now)
		j.publishLocked()
	}
	j.mu.Unlock()
	j.waiters.wake()
}

func (j *Journal[K, V, M]) publishLocked() {
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

// Next waits until there are changes after a cursor. It returns at most limit changes in order, and the cursor after
// the last of them. After a call of Wake, it can return without changes. All readers share the returned changes, and
// may modify only the Memo in them.
func (j *Journal[K, V, M]) Next(ctx context.Context, cursor Cursor, limit int) ([]*Change[K, V, M], Cursor, error) {
	return j.NextWithin(ctx, noTimer, cursor, limit)
}

// NextWithin is like Next, but with a time limit. If it must wait, it calls the function timer for a channel, and
// returns ErrNoChange when this channel receives a value.
func (j *Journal[K, V, M]) NextWithin(
	ctx context.Context, timer func() <-chan time.Time, cursor Cursor, limit int,
) ([]*Change[K, V, M], Cursor, error) {
	for {
		changes, next, moved, err := j.tail.Load().read(cursor, limit)
		if moved || err != nil {
			return changes, next, err
		}
		if err := j.sleep(ctx, timer, cursor); err != nil {
			return nil, cursor, err
		}
	}
}

func noTimer() <-chan time.Time { return nil }

// sleep waits for the next write, for a value from the channel that the function timer returns, or for the end of
// ctx. It returns at once if there is already a change after the cursor.
func (j *Journal[K, V, M]) sleep(ctx context.Context, timer func() <-chan time.Time, cursor Cursor) error {
	woken := j.waiters.wait()
	defer j.waiters.done()
	if j.tail.Load().moved(cursor) {
		return nil
	}
	select {
	case <-woken:
		return nil
	case <-timer():
		return ErrNoChange
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Get returns the present value of a key, whether the key exists, and the cursor after the newest change of the
// journal.
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

// Weight returns approximate memory sizes in bytes. The result state is the size of the present keys and values, and
// the result ring is the size of the history. They are sums of the sizes from Options.Size, Options.Derived and
// SetWith.
func (j *Journal[K, V, M]) Weight() (state, ring int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.weight + EntryOverhead*len(j.state), j.ring.weight
}

// WeightIn returns the approximate memory size, in bytes, of the present keys for which includes(key) is true, and of
// their values.
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
