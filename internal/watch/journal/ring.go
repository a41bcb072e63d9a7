package journal

import (
	"sync/atomic"
	"time"
)

// changeOverhead is the size in bytes of a Change and its slot in the ring, without the values.
const changeOverhead = 176

// EntryOverhead is the size in bytes of a key and its map slot, without the value.
const EntryOverhead = 120

// ring is a queue of changes, oldest first. Only the writer uses it. Readers use a tail, a published copy.
type ring[K comparable, V, M any] struct {
	slots         slots[K, V, M]
	weights       []int // sizes in bytes of the changes in slots, at the same indices
	newest        uint64
	count         int
	weight        int
	completeSince time.Time // time of the newest change that was dropped; zero if none was dropped
}

// slots is a circular array. A change's index is its offset modulo the length, which is a power of two.
type slots[K comparable, V, M any] []atomic.Pointer[Change[K, V, M]]

func (s slots[K, V, M]) at(offset uint64) *atomic.Pointer[Change[K, V, M]] {
	return &s[offset&uint64(len(s)-1)]
}

// push adds a change. The offset of the change must be r.newest + 1.
func (r *ring[K, V, M]) push(change *Change[K, V, M], weight int) {
	if r.count == len(r.slots) {
		r.resize(max(16, 2*r.count))
	}
	r.newest = change.Offset
	r.count++
	r.slots.at(r.newest).Store(change)
	*r.weightOf(r.newest) = weight
	r.weight += weight
}

// trim drops all changes before the time oldest. Then it drops the oldest changes until the ring has at most maxWeight
// bytes. It never drops the newest change.
func (r *ring[K, V, M]) trim(maxWeight int, oldest time.Time) {
	for r.count > 1 {
		at := r.newest - uint64(r.count) + 1 //nolint:gosec // A count is not negative.
		dropped := r.slots.at(at).Load()
		if r.weight <= maxWeight && !dropped.Time.Before(oldest) {
			break
		}
		r.completeSince = dropped.Time
		r.weight -= *r.weightOf(at)
		r.slots.at(at).Store(nil)
		r.count--
	}
	if len(r.slots) > 64 && r.count < len(r.slots)/4 {
		r.resize(len(r.slots) / 2)
	}
}

func (r *ring[K, V, M]) weightOf(offset uint64) *int {
	return &r.weights[offset&uint64(len(r.weights)-1)]
}

// resize copies the changes into n new slots. The old slots stay unchanged, because readers can still use them.
func (r *ring[K, V, M]) resize(n int) {
	old := *r
	r.slots, r.weights = make(slots[K, V, M], n), make([]int, n)
	for i := range old.count {
		at := old.newest - uint64(i) //nolint:gosec // i is less than the number of changes in the ring.
		r.slots.at(at).Store(old.slots.at(at).Load())
		*r.weightOf(at) = *old.weightOf(at)
	}
}
