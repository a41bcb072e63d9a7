// Package journal stores the present state of a set of keys and a bounded history of its changes, which readers read by
// cursor.
//
// One writer sets and deletes values by key. Each change gets the next offset and is stored in a ring. There may be any
// number of readers. The only state of a reader is its Cursor, so a waiting reader needs no buffer and delays no other
// reader or writer. It reads the changes that it missed in one larger batch, or gets ErrGone if the ring has dropped
// some of them.
//
// Promises:
//   - A Snapshot and its cursor belong together: the snapshot plus every change after the cursor is the state, exactly.
//   - All readers get the same changes in the same order, each once.
//   - The writer never waits for readers of changes. It wakes any number of them in constant time: it starts a
//     goroutine for that, unless one is about to wake them. It waits for a Snapshot while that copies a few thousand
//     keys.
//
// A Journal has one lock, for its state. Changes are read without it. While it is locked, only the functions in Options
// are called. They must be fast and must not call the Journal.
package journal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrGone means that the cursor is older than the ring, or does not belong to this journal. Take a new Snapshot.
	ErrGone = errors.New("the change after this cursor is no longer in the history")
	// ErrClosed means that the journal has ended and that everything in it was read.
	ErrClosed = errors.New("the journal is closed")
	// ErrNoChange means that nothing changed before the alarm of NextWithin.
	ErrNoChange = errors.New("nothing has changed")
)

// A Change is one step from one state to the next. Its offset is the offset of the previous change, plus one.
//
// Memo is for data that belongs to this change alone: data that the writer passed to SetWith, and data that readers
// derive from the change. The first reader that needs derived data computes it, and all readers share it. Memo must be
// safe for concurrent use. It is freed with the change.
type Change[K comparable, V, M any] struct {
	Offset   uint64
	Time     time.Time
	Key      K
	Old, New V
	Op       Op
	Memo     M
}

// Op is the effect of a Change, which defines whether Old and New are set. It is 0 if neither a value nor a key is set,
// see Mark.
type Op uint8

// The effects of a Change on its key. The comments name the values that are set.
const (
	Add    Op = iota + 1 // An add has only New.
	Update               // Old and New.
	Delete               // Only Old.
)

// Options define how a Journal compares, measures and retains values.
type Options[K comparable, V any] struct {
	// Same reports whether two values are equal for readers. If so, the new value replaces the old one without a
	// change.
	Same func(before, after V) bool
	// Continues reports whether two values of one key are two versions of the same thing. If not, Set results in a
	// Delete and an Add.
	Continues func(before, after V) bool
	// Size returns the size of a value in bytes, for MaxBytes and Weight.
	Size func(V) int
	// Derived returns the size, in bytes, of what readers store in the Memo of a change to a value. Nil means that they
	// store nothing.
	Derived func(V) int
	// MaxBytes and MaxAge limit the size and age of the changes in the ring. The newest change is always retained. If
	// MaxAge is zero, no older change is.
	MaxBytes int
	MaxAge   time.Duration
}

// A Cursor is a position in a journal: the reader has read everything up to it.
type Cursor struct {
	Offset  uint64
	wakeups uint64
}

// At returns the cursor for an offset, such as one that a client has sent back.
func At(offset uint64) Cursor { return Cursor{Offset: offset} }

// An Entry is one key of a snapshot with its value.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
}

// A Journal stores the state and the recent changes of a set of keys. It is safe for any number of readers. It is also
// safe for several writers if each has its own keys.
type Journal[K comparable, V, M any] struct {
	options Options[K, V]
	tail    atomic.Pointer[tail[K, V, M]] // The published view of the ring, which readers use.
	waiters waiters

	mu       sync.RWMutex // Locked for all writes, and for reads of the state.
	state    map[K]V
	weight   int // The sum of the sizes of the values in state.
	ring     ring[K, V, M]
	nextTail tail[K, V, M] // The tail that is published after the current write.
}

// New returns an empty journal.
func New[K comparable, V, M any](options Options[K, V]) *Journal[K, V, M] {
	j := &Journal[K, V, M]{options: options, state: make(map[K]V)}
	j.tail.Store(&tail[K, V, M]{})
	j.waiters.init()
	return j
}

// Set stores value as the present value of key.
func (j *Journal[K, V, M]) Set(key K, value V) {
	var none M
	j.SetWith(key, value, none, 0)
}

// SetWith is Set with the initial Memo of the change, and with weight, the size of that Memo in bytes. If the old and
// new values are equal for readers, the Memo is dropped.
func (j *Journal[K, V, M]) SetWith(key K, value V, memo M, weight int) {
	j.write(func(now time.Time) { j.setLocked(key, value, memo, weight, now) })
}

// Delete removes key. It does nothing if key does not exist.
func (j *Journal[K, V, M]) Delete(key K) {
	var none M
	j.write(func(now time.Time) { j.deleteLocked(key, none, now) })
}

// Replace makes next the complete state. It stores only the differences as changes: first the deletes, then adds and
// updates in the given order. The first state of a journal is an exception: it uses one offset for all keys, and
// cursors from before it get ErrGone. The journal stores no reference to next.
func (j *Journal[K, V, M]) Replace(next []Entry[K, V]) {
	var none M
	j.ReplaceIn(func(K) bool { return true }, next, func(K) M { return none }, none)
}

// ReplaceIn is Replace for the keys for which includes returns true. Other keys stay. includes must return true for all
// keys of next. The initial Memo of an add is addMemo(key). The initial Memo of a delete, for a key not in next, is
// deleteMemo. Other Memos are initially empty.
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

// Mark stores a Change without a key and values. It only uses up an offset, so that cursors from before it differ from
// those after it.
func (j *Journal[K, V, M]) Mark() {
	j.write(func(now time.Time) {
		j.nextTail.offset++
		j.ring.push(&Change[K, V, M]{Offset: j.nextTail.offset, Time: now}, changeOverhead)
	})
}

// Forget drops the history. Readers that have not read all of it get ErrGone, and need a new snapshot.
func (j *Journal[K, V, M]) Forget() {
	j.write(func(now time.Time) { j.ring = ring[K, V, M]{completeSince: now} })
}

// Trim drops changes that are older than MaxAge. Every write does that, too, so only a journal without writes needs
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

// Wake wakes every reader although nothing has changed, so that readers check data that is stored outside the journal.
func (j *Journal[K, V, M]) Wake() {
	j.write(func(time.Time) { j.nextTail.wakeups++ })
}

// Close ends the journal. Readers get the remaining changes, then ErrClosed. Writes after Close are dropped.
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

// Next waits for changes after the cursor, and returns them in order, with the cursor after them. It returns at least
// one and at most limit changes; after a Nudge it may return none. Readers share the changes, and may write only to
// their Memo.
func (j *Journal[K, V, M]) Next(ctx context.Context, after Cursor, limit int) ([]*Change[K, V, M], Cursor, error) {
	return j.NextWithin(ctx, noTimer, after, limit)
}

// NextWithin is Next with a time limit: if it has to wait, it calls timer, and returns ErrNoChange when it receives
// something from that channel.
func (j *Journal[K, V, M]) NextWithin(
	ctx context.Context, timer func() <-chan time.Time, after Cursor, limit int,
) ([]*Change[K, V, M], Cursor, error) {
	for {
		changes, next, moved, err := j.tail.Load().read(after, limit)
		if moved || err != nil {
			return changes, next, err
		}
		if err := j.sleep(ctx, timer, after); err != nil {
			return nil, after, err
		}
	}
}

func noTimer() <-chan time.Time { return nil }

// sleep waits until there may be something to read after the cursor.
func (j *Journal[K, V, M]) sleep(ctx context.Context, timer func() <-chan time.Time, after Cursor) error {
	woken := j.waiters.wait()
	defer j.waiters.done()
	if j.tail.Load().moved(after) { // Something has happened since the caller's check.
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

// Get returns the present value of a key, and the cursor for it.
func (j *Journal[K, V, M]) Get(key K) (V, bool, Cursor) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	value, ok := j.state[key]
	return value, ok, j.Now()
}

// Now returns the cursor after the newest change.
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

// Weight returns the sizes of the state and of the ring, in bytes. The sizes of values are from Options.Size, and those
// of Memos from Options.Derived and SetWith.
func (j *Journal[K, V, M]) Weight() (state, ring int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.weight + EntryOverhead*len(j.state), j.ring.weight
}

// WeightIn returns the size of that part of the state for whose keys includes returns true, in bytes.
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
