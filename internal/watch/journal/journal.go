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
//   - The writer never waits for a reader. It takes the lock for the time of a
//     map write, and wakes one reader in constant time; that one wakes the rest.
//
// A Journal has one lock. Nothing is called while it is held but the functions
// given in Options, which must be quick and must not call back.
package journal

import (
	"context"
	"errors"
	"sync"
	"time"
)

var (
	// ErrGone says that the cursor is older than the ring, or not of this
	// journal: take a new Snapshot.
	ErrGone = errors.New("the change after this cursor is no longer kept")
	// ErrClosed says that the journal has ended and all of it has been read.
	ErrClosed = errors.New("the journal is closed")
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

// Op tells which of a Change's values are set.
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

// Journal is safe for one writer and any number of readers.
type Journal[K comparable, V, M any] struct {
	options Options[K, V]
	bell    chan struct{} // Rung by the writer; whoever hears it calls wakeAll.

	mu     sync.RWMutex
	state  map[K]V
	ring   ring[K, V, M]
	offset uint64
	nudges uint64
	wake   chan struct{} // Closed, and made anew, by wakeAll.
	closed bool
}

// New returns an empty journal.
func New[K comparable, V, M any](options Options[K, V]) *Journal[K, V, M] {
	return &Journal[K, V, M]{
		options: options,
		bell:    make(chan struct{}, 1),
		state:   make(map[K]V),
		wake:    make(chan struct{}),
	}
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
	j.write(func(now time.Time) { j.deleteLocked(key, now) })
}

// Replace makes next the whole state and journals only what differs: first the
// deletes, then adds and updates in the order given. The first state of a
// journal is not worth a change for each key: it takes one offset, and cursors
// from before it are gone. The journal keeps no reference to next.
func (j *Journal[K, V, M]) Replace(next []Entry[K, V]) {
	j.write(func(now time.Time) {
		if j.offset == 0 {
			j.state = make(map[K]V, len(next))
			for _, e := range next {
				j.state[e.Key] = e.Value
			}
			j.offset++
			return
		}
		keep := make(map[K]struct{}, len(next))
		for _, e := range next {
			keep[e.Key] = struct{}{}
		}
		for key := range j.state {
			if _, ok := keep[key]; !ok {
				j.deleteLocked(key, now)
			}
		}
		var none M
		for _, e := range next {
			j.setLocked(e.Key, e.Value, none, 0, now)
		}
	})
}

// Nudge wakes every reader without a change, so that they look at whatever is
// kept beside the journal.
func (j *Journal[K, V, M]) Nudge() {
	j.write(func(time.Time) { j.nudges++ })
}

// Close ends the journal: readers get what is left, then ErrClosed. Writes
// after Close are dropped.
func (j *Journal[K, V, M]) Close() {
	j.write(func(time.Time) { j.closed = true })
}

func (j *Journal[K, V, M]) write(change func(now time.Time)) {
	now := time.Now()
	j.mu.Lock()
	if !j.closed {
		change(now)
		j.ring.trim(j.options.MaxBytes, now.Add(-j.options.MaxAge))
	}
	j.mu.Unlock()
	select {
	case j.bell <- struct{}{}:
	default: // Rung already, and not yet heard.
	}
}

func (j *Journal[K, V, M]) setLocked(key K, value V, memo M, weight int, now time.Time) {
	old, ok := j.state[key]
	switch {
	case ok && !j.options.Continues(old, value):
		j.deleteLocked(key, now)
		ok = false
	case ok && j.options.Same(old, value):
		j.state[key] = value
		return
	}
	j.state[key] = value
	change := &Change[K, V, M]{Key: key, New: value, Op: Add, Time: now, Memo: memo}
	if ok {
		change.Old, change.Op = old, Update
	}
	j.appendLocked(change, weight)
}

func (j *Journal[K, V, M]) deleteLocked(key K, now time.Time) {
	old, ok := j.state[key]
	if !ok {
		return
	}
	delete(j.state, key)
	j.appendLocked(&Change[K, V, M]{Key: key, Old: old, Op: Delete, Time: now}, 0)
}

func (j *Journal[K, V, M]) appendLocked(change *Change[K, V, M], weight int) {
	j.offset++
	change.Offset = j.offset
	weight += changeOverhead
	if change.Op != Delete {
		weight += j.options.Size(change.New)
	}
	if change.Op != Add {
		weight += j.options.Size(change.Old)
	}
	j.ring.push(change, weight)
}

// Next returns the changes after the cursor, in order, and the cursor behind
// them: at most limit, at least one, waiting for it; or none when a Nudge came.
// The changes are shared and must not be written to, their Memo apart.
func (j *Journal[K, V, M]) Next(ctx context.Context, after Cursor, limit int) ([]*Change[K, V, M], Cursor, error) {
	for {
		changes, next, wake, err := j.read(after, limit)
		if err != nil || wake == nil {
			return changes, next, err
		}
		select {
		case <-ctx.Done():
			return nil, after, ctx.Err()
		case <-wake:
		case <-j.bell:
			j.wakeAll()
		}
	}
}

// read returns a channel to wait on where there is nothing to return.
func (j *Journal[K, V, M]) read(after Cursor, limit int) ([]*Change[K, V, M], Cursor, <-chan struct{}, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if after.Offset > j.offset || after.Offset < j.offset-uint64(j.ring.len()) {
		return nil, after, nil, ErrGone
	}
	if behind := int(j.offset - after.Offset); behind > 0 {
		changes := j.ring.last(behind, limit)
		next := Cursor{Offset: after.Offset + uint64(len(changes)), nudges: after.nudges}
		if next.Offset == j.offset {
			next.nudges = j.nudges
		}
		return changes, next, nil, nil
	}
	if after.nudges != j.nudges {
		return nil, Cursor{Offset: after.Offset, nudges: j.nudges}, nil, nil
	}
	if j.closed {
		return nil, after, nil, ErrClosed
	}
	return nil, after, j.wake, nil
}

func (j *Journal[K, V, M]) wakeAll() {
	j.mu.Lock()
	sleepers := j.wake
	j.wake = make(chan struct{})
	j.mu.Unlock()
	close(sleepers)
}

// Get returns the present value of a key, and the cursor it belongs to.
func (j *Journal[K, V, M]) Get(key K) (V, bool, Cursor) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	value, ok := j.state[key]
	return value, ok, j.nowLocked()
}

// Now is the cursor behind the newest change.
func (j *Journal[K, V, M]) Now() Cursor {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.nowLocked()
}

func (j *Journal[K, V, M]) nowLocked() Cursor {
	return Cursor{Offset: j.offset, nudges: j.nudges}
}

// Len is the number of keys.
func (j *Journal[K, V, M]) Len() int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return len(j.state)
}

// Weight is what the ring holds, in the bytes that Options.Size and SetWith gave.
func (j *Journal[K, V, M]) Weight() int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.ring.weight
}
