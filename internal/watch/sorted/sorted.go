// Package sorted keeps a list in order while its members change, and finds the
// first of what is in no order.
//
// It is a plain slice. With 100,000 members, of which each change moves one, a
// B-tree that counts took half the time of a change, but half as much memory
// again, and ten times as long to read a part from: parts are read far more
// often. Changes that come together cost one pass.
package sorted

import "slices"

// List holds members in the order of a comparison, by which no two are equal. It
// is for one goroutine at a time.
type List[T any] struct {
	compare func(a, b T) int
	members []T
}

// New returns a list of members, which it keeps and sorts.
func New[T any](members []T, compare func(a, b T) int) *List[T] {
	slices.SortFunc(members, compare)
	return &List[T]{compare: compare, members: members}
}

// Len is how many there are.
func (l *List[T]) Len() int { return len(l.members) }

// Part returns a copy of count members from one on, fewer where there are no
// more.
func (l *List[T]) Part(from, count int) []T {
	from = min(from, len(l.members))
	return slices.Clone(l.members[from : from+min(count, len(l.members)-from)])
}

// Find returns where a member is, and whether it is there.
func (l *List[T]) Find(member T) (at int, ok bool) { return l.find(0, member) }

// Change takes members out and puts others in; one that equals one that goes
// takes its place. Both are sorted. It reports false, and the list is of no use
// any more, where one that is to go is not there, or one that comes is.
func (l *List[T]) Change(gone, come []T) bool {
	slices.SortFunc(gone, l.compare)
	slices.SortFunc(come, l.compare)
	var places []int // Of those that go.
	from, kept := 0, come[:0]
	for _, g := range gone {
		at, ok := l.find(from, g)
		if !ok {
			return false
		}
		for len(come) > 0 && l.compare(come[0], g) < 0 {
			kept, come = append(kept, come[0]), come[1:]
		}
		if len(come) > 0 && l.compare(come[0], g) == 0 {
			l.members[at], come = come[0], come[1:]
		} else {
			places = append(places, at)
		}
		from = at + 1
	}
	l.remove(places)
	return l.insert(append(kept, come...))
}

// find returns where a member is, or would be, from one place on.
func (l *List[T]) find(from int, member T) (at int, ok bool) {
	at, ok = slices.BinarySearchFunc(l.members[from:], member, l.compare)
	return from + at, ok
}

// remove takes out what is at places, which rise.
func (l *List[T]) remove(places []int) {
	if len(places) == 0 {
		return
	}
	end := places[0]
	for i, at := range places {
		next := len(l.members)
		if i+1 < len(places) {
			next = places[i+1]
		}
		end += copy(l.members[end:], l.members[at+1:next])
	}
	clear(l.members[end:])
	l.members = l.members[:end]
}

// insert puts in what is sorted, and reports whether none of it was there.
func (l *List[T]) insert(come []T) bool {
	places := make([]int, len(come))
	from := 0
	for i, c := range come {
		at, ok := l.find(from, c)
		if ok || i > 0 && l.compare(come[i-1], c) == 0 {
			return false
		}
		places[i], from = at, at
	}
	end := len(l.members)
	l.members = slices.Grow(l.members, len(come))[:end+len(come)]
	for i, at := range slices.Backward(places) {
		copy(l.members[at+i+1:], l.members[at:end])
		l.members[at+i] = come[i]
		end = at
	}
	return true
}

// First returns the first n of the members in order, all where there are no more.
// The rest is lost, for it is their slice that it returns a part of.
func First[T any](members []T, n int, compare func(a, b T) int) []T {
	n = min(n, len(members))
	first, bounded := members[:0], false
	for _, m := range members {
		if bounded && compare(m, first[n-1]) >= 0 {
			continue
		}
		first = append(first, m)
		if len(first) == 2*n { // Now and then, so that each costs little.
			slices.SortFunc(first, compare)
			first, bounded = first[:n], true
		}
	}
	slices.SortFunc(first, compare)
	return first[:n]
}
