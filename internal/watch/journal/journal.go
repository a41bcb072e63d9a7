// Package journal keeps the present state of a set of keys and a bounded history of its changes, read by cursor.
//
// One writer sets and deletes values by key. Each change gets the next offset and is stored in a ring. Any number of
// readers have a Cursor, and nothing else. A waiting reader needs no buffer and delays no other reader or writer. It
// reads the changes that it missed in one larger batch, or gets ErrGone if the ring has dropped some of them.
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
	ErrGone = errors.New("the change after this cursor is no longer kept")
	// ErrClosed means that the journal has ended and that everything in it was read.
	ErrClosed = errors.New("the journal is closed")
	// ErrSilent means that nothing changed before the alarm.
	ErrSilent = errors.New("nothing has changed")
)

// A Change is one step from one state to the next. Each change has the offset of the one before it, plus one.
//
// Memo is for data that belongs to this change alone: what the writer gave with it (SetWith), and what readers derive
// from it. The first reader that needs derived data computes it, and all readers share it. Memo must be safe for
// concurrent use. It is freed with the change.
type Change[K comparable, V, M any] struct {
	Offset   uint64
	Time     time.Time
	Key      K
	Old, New V
	Op       Op
	Memo     M
}

// Op defines which of a Change's values are set. It is 0 if neither a value nor a key is set, see Mark.
type Op uint8

// The effects of a Change on its key.
const (
	Add    Op = iota + 1 // Only New.
	Update               // Old and New.
	Delete               // Only Old.
)

// Options are the rules of a Journal.
type Options[K comparable, V any] struct {
	// Same reports whether two values have no difference that readers need. The new value replaces the old one without
	// a change.
	Same func(before, after V) bool
	// Continues reports whether two values of one key are two versions of the same thing. If not, Set results in a
	// Delete and an Add.
	Continues func(before, after V) bool
	// Size is the size of a value in the ring, in bytes.
	Size func(V) int
	// Derived is the size of what readers keep in the Memo of a change to a value, in bytes. Nil means that they keep
	// nothing.
	Derived func(V) int
	// MaxBytes and MaxAge bound the ring. The newest change is always kept. A MaxAge of zero keeps no older change.
	MaxBytes int
	MaxAge   time.Duration
}

// A Cursor is a position in a journal: everything up to it was read.
type Cursor struct {
	Offset uint64
	nudges uint64
}

// At returns the cursor for an offset that was stored outside the process.
func At(offset uint64) Cursor { return Cursor{Offset: offset} }

// An Entry is one key of a snapshot with its value.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
}

// A Journal is safe for any number of readers. It is also safe for several writers if each has its own keys.
type Journal[K comparable, V, M any] struct {
	options Options[K, V]
	tail    atomic.Pointer[tail[K, V, M]] // The ring as readers see it.
	bed     bed

	mu     sync.RWMutex // For all writes, and for reads of the state.
	state  map[K]V
	weight int // Of the values in state.
	ring   ring[K, V, M]
	now    tail[K, V, M] // The tail that is published after the write.
}

// New returns an empty journal.
func New[K comparable, V, M any](options Options[K, V]) *Journal[K, V, M] {
	j := &Journal[K, V, M]{options: options, state: make(map[K]V)}
	j.tail.Store(&tail[K, V, M]{})
	j.bed.init()
	return j
}

// Set makes value the state of key.
func (j *Journal[K, V, M]) Set(key K, value V) {
	var none M
	j.SetWith(key, value, none, 0)
}

// SetWith is Set with the initial Memo of the change, and the size of that Memo in the ring, in bytes. If the value has
// no difference that readers need, the Memo is dropped.
func (j *Journal[K, V, M]) SetWith(key K, value V, memo M, weight int) {
	j.write(func(now time.Time) { j.setLocked(key, value, memo, weight, now) })
}

// Delete removes key. It does nothing if key does not exist.
func (j *Journal[K, V, M]) Delete(key K) {
	var none M
	j.write(func(now time.Time) { j.deleteLocked(key, none, now) })
}

// Replace makes next the complete state, and stores only the differences as changes: first the deletes, then adds and
// updates in the given order. The first state of a journal is not stored as one change for each key. It takes one
// offset, and cursors from before it get ErrGone. The journal keeps no reference to next.
func (j *Journal[K, V, M]) Replace(next []Entry[K, V]) {
	var none M
	j.ReplaceIn(func(K) bool { return true }, next, func(K) M { return none }, none)
}

// ReplaceIn is Replace for the keys that part selects. Other keys stay. All keys of next must be selected by part. The
// Memo of an add of a new key is initially came(key). The Memo of a delete of a key that is not in next is initially
// went. Other Memos are initially empty.
func (j *Journal[K, V, M]) ReplaceIn(part func(K) bool, next []Entry[K, V], came func(K) M, went M) {
	var none M
	j.write(func(now time.Time) {
		if j.now.offset == 0 {
			j.state = make(map[K]V, len(next))
			for _, e := range next {
				j.state[e.Key] = e.Value
				j.weight += j.options.Size(e.Value)
			}
			j.now.offset++
			return
		}
		keep := make(map[K]struct{}, len(next))
		for _, e := range next {
			keep[e.Key] = struct{}{}
		}
		for key := range j.state {
			if _, ok := keep[key]; !ok && part(key) {
				j.deleteLocked(key, went, now)
			}
		}
		for _, e := range next {
			if _, ok := j.state[e.Key]; ok {
				j.setLocked(e.Key, e.Value, none, 0, now)
				continue
			}
			j.setLocked(e.Key, e.Value, came(e.Key), 0, now)
		}
	})
}

// Mark stores a Change without a key, so that cursors from before it differ from those after it.
func (j *Journal[K, V, M]) Mark() {
	j.write(func(now time.Time) {
		j.now.offset++
		j.ring.push(&Change[K, V, M]{Offset: j.now.offset, Time: now}, changeOverhead)
	})
}

// Forget drops the history. Readers that have not read all of it get ErrGone.
func (j *Journal[K, V, M]) Forget() {
	j.write(func(now time.Time) { j.ring = ring[K, V, M]{since: now} })
}

// Trim drops changes that are too old. Writes do so, too. Trim is for a journal without writes.
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

// Nudge wakes every reader without a change, so that readers check data that is kept outside the journal.
func (j *Journal[K, V, M]) Nudge() {
	j.write(func(time.Time) { j.now.nudges++ })
}

// Close ends the journal. Readers get the remaining changes, then ErrClosed. Writes after Close are dropped.
func (j *Journal[K, V, M]) Close() {
	j.write(func(time.Time) { j.now.closed = true })
}

func (j *Journal[K, V, M]) write(change func(now time.Time)) {
	now := time.Now()
	j.mu.Lock()
	if !j.now.closed {
		change(now)
		j.trimLocked(now)
		j.publishLocked()
	}
	j.mu.Unlock()
	j.bed.ring()
}

func (j *Journal[K, V, M]) publishLocked() {
	now := j.now
	now.slots, now.count = j.ring.slots, j.ring.count
	j.tail.Store(&now)
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
	j.now.offset++
	change.Offset = j.now.offset
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

// Next returns the changes after the cursor, in order, and the cursor after them. It returns at most limit changes and
// waits for at least one, or returns none after a Nudge. The changes are shared: only their Memo may be written to.
func (j *Journal[K, V, M]) Next(ctx context.Context, after Cursor, limit int) ([]*Change[K, V, M], Cursor, error) {
	return j.NextWithin(ctx, never, after, limit)
}

// NextWithin is Next, except that it waits only until something is received from the channel that alarm returns. Then
// it returns ErrSilent. If it does not have to wait, it does not call alarm.
func (j *Journal[K, V, M]) NextWithin(
	ctx context.Context, alarm func() <-chan time.Time, after Cursor, limit int,
) ([]*Change[K, V, M], Cursor, error) {
	for {
		changes, next, news, err := j.tail.Load().read(after, limit)
		if news || err != nil {
			return changes, next, err
		}
		if err := j.sleep(ctx, alarm, after); err != nil {
			return nil, after, err
		}
	}
}

func never() <-chan time.Time { return nil }

// sleep waits until there may be something to read after the cursor.
func (j *Journal[K, V, M]) sleep(ctx context.Context, alarm func() <-chan time.Time, after Cursor) error {
	woken := j.bed.lie()
	defer j.bed.rise()
	if j.tail.Load().moved(after) { // Since the caller's check.
		return nil
	}
	select {
	case <-woken:
		return nil
	case <-alarm():
		return ErrSilent
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
	return Cursor{Offset: t.offset, nudges: t.nudges}
}

// Len returns the number of keys.
func (j *Journal[K, V, M]) Len() int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return len(j.state)
}

// Weight returns the sizes of the state and of the ring, in bytes. Options.Size and SetWith define them.
func (j *Journal[K, V, M]) Weight() (state, ring int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.weight + EntryOverhead*len(j.state), j.ring.weight
}

// WeightIn returns the size of the keys of the state that part selects, in bytes.
func (j *Journal[K, V, M]) WeightIn(part func(K) bool) (state int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	for key, value := range j.state {
		if part(key) {
			state += j.options.Size(value) + EntryOverhead
		}
	}
	return state
}
