package graph

// slab stores values in chunks, and numbers them from 1. A number takes less memory than a pointer.
type slab[T any] struct {
	chunks []*[chunkSize]T
	last   uint32   // The largest number that a value has ever had.
	free   []uint32 // Numbers of removed values.
}

// chunkSize is the number of values in a chunk. Smaller chunks would take more memory: Go adds a header to a small
// allocation with pointers, and rounds up its size.
const chunkSize = 1024

// at returns the value that has the given number.
func (s *slab[T]) at(number uint32) *T { return &s.chunks[number/chunkSize][number%chunkSize] }

func (s *slab[T]) add(value T) (number uint32) {
	if last := len(s.free) - 1; last >= 0 {
		number, s.free = s.free[last], s.free[:last]
	} else {
		s.last++
		number = s.last
		if int(number/chunkSize) == len(s.chunks) {
			s.chunks = append(s.chunks, new([chunkSize]T))
		}
	}
	*s.at(number) = value
	return number
}

func (s *slab[T]) remove(number uint32) {
	var zero T
	*s.at(number) = zero
	s.free = append(s.free, number)
}

func (s *slab[T]) len() int { return int(s.last) - len(s.free) }

// table finds the numbers of values by the hashes of the values. It takes about 7 bytes per number. A Go map takes 40.
type table struct {
	hash  func(number uint32) uint64
	slots []uint32 // Numbers, or 0. A number is in the slot of its hash or in a later one. The length is a power of two.
	count int
}

// find searches the numbers that have a hash. It returns the slot of the number for which isWanted returns true, or
// nil.
func (t *table) find(hash uint64, isWanted func(number uint32) bool) (slot *uint32) {
	if t.count == 0 {
		return nil
	}
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if isWanted(t.slots[at]) {
			return &t.slots[at]
		}
	}
	return nil
}

func (t *table) add(number uint32) {
	if t.count++; t.count > len(t.slots)*7/8 {
		before := t.slots
		t.slots = make([]uint32, max(16, 2*len(before)))
		for _, other := range before {
			if other != 0 {
				t.insert(other)
			}
		}
	}
	t.insert(number)
}

func (t *table) insert(number uint32) {
	mask := uint64(len(t.slots) - 1)
	at := t.hash(number) & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = number
}

// remove removes a number that the table contains. Later numbers fill the empty slot, because find would stop there.
func (t *table) remove(number uint32) {
	mask := uint64(len(t.slots) - 1)
	gap := t.hash(number) & mask
	for t.slots[gap] != number {
		gap = (gap + 1) & mask
	}
	for at := (gap + 1) & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if distance := (at - t.hash(t.slots[at])) & mask; distance >= (at-gap)&mask {
			t.slots[gap] = t.slots[at]
			gap = at
		}
	}
	t.slots[gap] = 0
	t.count--
}
