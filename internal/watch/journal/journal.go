// Package journal keeps a present state and its bounded past, read by cursor.
//
// One writer sets and deletes values by key; each change gets the next offset
// and goes into a ring. Any number of readers hold a Cursor, and nothing else:
// a reader that sleeps costs no memory and holds nobody up, and what it missed
// is read in one larger batch, or answered with ErrGone when it has fallen off
// the ring.
//
// Promises:
//   - A Snapshot and its cursor belong together: the snapshot plus every change
//     after the cursor is the state, exactly.
//   - All readers see the same changes in the same order, each once.
//   - The writer never waits for who reads changes, and wakes any number of them
//     in constant time: it starts a goroutine that does, where none is about to.
//     It waits for a Snapshot while that copies a few thousand keys.
//
// A Journal has one lock, for its state; what has changed is read without. No
// function is called while it is held but those given in Options, which must be
// quick and must not call back.
package journal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrGone says that the cursor is older than the ring, or not of this
	// journal: take a new Snapshot.
	ErrGone = errors.New("the change after this cursor is no longer kept")
	// ErrClosed says that the journal has ended and all of it has been read.
	ErrClosed = errors.New("the journal is closed")
	// ErrSilent says that nothing came until the alarm.
	ErrSilent = errors.New("nothing has changed")
)

// A Change is one step from a state to the next. Offsets rise by one a change.
//
// Memo is for whatever belongs to the change alone: what the writer gave with it
// (SetWith), and what readers derive from it, made once, by the first that asks,
// and shared by all. It guards itself, and goes with the change.
type Change[K comparable, V, M any] struct {
	Offset   uint64
	Time     time.Time
	Key      K
	Old, New V
	Op       Op
	Memo     M
}

// Op tells which of a Change's values are set. It is 0 where none is, nor a key:
// see Mark.
type Op uint8

// What a Change does to its key.
const (
	Add    Op = iota + 1 // New alone
	Update               // Old and New
	Delete               // Old alone
)

// Options are the rules of a Journal.
type Options[K comparable, V any] struct {
	// Same reports that there is nothing to tell between two values. The new
	// one is kept all the same, silently.
	Same func(before, after V) bool
	// Continues reports that two values under one key are the same thing at two
	// times. Where it says no, a Set is told as a Delete and an Add.
	Continues func(before, after V) bool
	// Size is what a change's values weigh in the ring, in bytes.
	Size func(V) int
	// Derived is what readers keep beside a change to a value, in its Memo, in
	// bytes; nil where they keep nothing.
	Derived func(V) int
	// MaxBytes and MaxAge bound the ring; the newest change is always kept.
	// An age of zero keeps nothing for its age.
	MaxBytes int
	MaxAge   time.Duration
}

// A Cursor is a place in a journal: everything at or before it has been read.
type Cursor struct {
	Offset uint64
	nudges uint64
}

// At is the cursor of an offset that was kept outside the process.
func At(offset uint64) Cursor { return Cursor{Offset: offset} }

// An Entry is one key of a snapshot.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
}

// Journal is safe for any number of readers, and of writers, whose keys must
// be their own.
type Journal[K comparable, V, M any] struct {
	options Options[K, V]
	tail    atomic.Pointer[tail[K, V, M]] // What readers see of the ring.
	bed     bed

	mu     sync.RWMutex // For all writes, and for reading the state.
	state  map[K]V
	weight int // Of the values of state.
	ring   ring[K, V, M]
	now    tail[K, V, M] // The tail that is published when the write is done.
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

// SetWith is Set with what the change's Memo starts as, and the bytes that this
// weighs in the ring. It is dropped where there is nothing to tell.
func (j *Journal[K, V, M]) SetWith(key K, value V, memo M, weight int) {
	j.write(func(now time.Time) { j.setLocked(key, value, memo, weight, now) })
}

// Delete removes key; a key that is not there is left so.
func (j *Journal[K, V, M]) Delete(key K) {
	var none M
	j.write(func(now time.Time) { j.deleteLocked(key, none, now) })
}

// Replace makes next the whole state and journals only what differs: first the
// deletes, then adds and updates in the order given. The first state of a
// journal is not worth a change for each key: it takes one offset, and cursors
// from before it are gone. The journal keeps no reference to next.
func (j *Journal[K, V, M]) Replace(next []Entry[K, V]) {
	var none M
	j.ReplaceIn(func(K) bool { return true }, next, func(K) M { return none }, none)
}

// ReplaceIn is Replace for the keys of a part of the state: others stay. All
// of next must be of that part. The Memo of the add of a key that was not there
// starts as came says, that of the delete of a key that is not in next as went;
// others start empty.
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

// Mark journals a Change of nothing, which tells cursors from before it from those
// after it.
func (j *Journal[K, V, M]) Mark() {
	j.write(func(now time.Time) {
		j.now.offset++
		j.ring.push(&Change[K, V, M]{Offset: j.now.offset, Time: now}, changeOverhead)
	})
}

// Forget drops the past: readers that have not read all of it get ErrGone.
func (j *Journal[K, V, M]) Forget() {
	j.write(func(now time.Time) { j.ring = ring[K, V, M]{since: now} })
}

// Trim drops what is too old. Writes do, too: it is for a journal that is quiet.
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

// Nudge wakes every reader without a change, so that they look at whatever is
// kept beside the journal.
func (j *Journal[K, V, M]) Nudge() {
	j.write(func(time.Time) { j.now.nudges++ })
}

// Close ends the journal: readers get what is left, then ErrClosed. Writes
// after Close are dropped.
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

// Next returns the changes after the cursor, in order, and the cursor behind
// them: at most limit, at least one, waiting for it; or none when a Nudge came.
// The changes are shared and must not be written to, their Memo apart.
func (j *Journal[K, V, M]) Next(ctx context.Context, after Cursor, limit int) ([]*Change[K, V, M], Cursor, error) {
	return j.NextWithin(ctx, never, after, limit)
}

// NextWithin is Next that waits no longer than until something is received from
// what alarm returns: then it ends with ErrSilent. Where there is no need to
// wait, alarm is not called.
func (j *Journal[K, V, M]) NextWithin(ctx context.Context, alarm func() <-chan time.Time, after Cursor, limit int) ([]*Change[K, V, M], Cursor, error) {
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

// sleep waits until there may be news for the cursor.
func (j *Journal[K, V, M]) sleep(ctx context.Context, alarm func() <-chan time.Time, after Cursor) error {
	woken := j.bed.lie()
	defer j.bed.rise()
	if j.tail.Load().moved(after) { // Since the look that sent us here.
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

// Get returns the present value of a key, and the cursor it belongs to.
func (j *Journal[K, V, M]) Get(key K) (V, bool, Cursor) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	value, ok := j.state[key]
	return value, ok, j.Now()
}

// Now is the cursor behind the newest change.
func (j *Journal[K, V, M]) Now() Cursor {
	t := j.tail.Load()
	return Cursor{Offset: t.offset, nudges: t.nudges}
}

// Len is the number of keys.
func (j *Journal[K, V, M]) Len() int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return len(j.state)
}

// Weight is what the state and the ring hold, in the bytes that Options.Size
// and SetWith gave.
func (j *Journal[K, V, M]) Weight() (state, ring int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.weight + EntryOverhead*len(j.state), j.ring.weight
}

// WeightIn is what a part of the state holds.
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
