package journal

import "time"

// changeOverhead is what a change weighs beside its values: the Change itself
// and its slot.
const changeOverhead = 160

// ring is a queue of changes, oldest first, that grows and shrinks with what it
// holds. Its bounds are trim's.
type ring[K comparable, V, M any] struct {
	slots  []slot[K, V, M]
	head   int // Index of the oldest.
	count  int
	weight int
	since  time.Time // Of the newest change that was dropped; zero for none.
}

type slot[K comparable, V, M any] struct {
	change *Change[K, V, M]
	weight int
}

func (r *ring[K, V, M]) len() int { return r.count }

func (r *ring[K, V, M]) at(i int) *slot[K, V, M] {
	return &r.slots[(r.head+i)%len(r.slots)]
}

func (r *ring[K, V, M]) push(change *Change[K, V, M], weight int) {
	if r.count == len(r.slots) {
		r.resize(max(16, 2*r.count))
	}
	r.count++
	*r.at(r.count - 1) = slot[K, V, M]{change: change, weight: weight}
	r.weight += weight
}

// trim drops the oldest until the rest is light and young enough, or one is
// left.
func (r *ring[K, V, M]) trim(maxWeight int, oldest time.Time) {
	for r.count > 1 && (r.weight > maxWeight || r.at(0).change.Time.Before(oldest)) {
		r.weight -= r.at(0).weight
		r.since = r.at(0).change.Time
		*r.at(0) = slot[K, V, M]{}
		r.head = (r.head + 1) % len(r.slots)
		r.count--
	}
	if len(r.slots) > 64 && r.count < len(r.slots)/4 {
		r.resize(len(r.slots) / 2)
	}
}

func (r *ring[K, V, M]) resize(n int) {
	slots := make([]slot[K, V, M], n)
	for i := range r.count {
		slots[i] = *r.at(i)
	}
	r.slots, r.head = slots, 0
}

// last returns the first limit of the newest n.
func (r *ring[K, V, M]) last(n, limit int) []*Change[K, V, M] {
	changes := make([]*Change[K, V, M], min(n, limit))
	for i := range changes {
		changes[i] = r.at(r.count - n + i).change
	}
	return changes
}
