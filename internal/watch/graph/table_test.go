package graph

import (
	"math/rand/v2"
	"testing"
)

// A table contains the same numbers as a map, even if many hashes are equal or at the end of the slots.
func TestTableEqualsMap(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		hashes := 1 + r.Uint64N(100)
		hash := func(number uint32) uint64 { return uint64(number)%hashes - hashes/2 }
		numbers, want := table{hash: hash}, map[uint32]bool{}
		for range 500 {
			switch number := 1 + r.Uint32N(100); {
			case !want[number]:
				numbers.add(number)
				want[number] = true
			case r.IntN(2) == 0:
				numbers.remove(number)
				delete(want, number)
			}
			for number := range uint32(102) {
				slot := numbers.find(hash(number), func(other uint32) bool { return other == number })
				if (slot != nil) != want[number] || numbers.count != len(want) {
					t.Fatalf("find(%d) returns %v, want %t", number, slot, want[number])
				}
			}
		}
	}
}

// A slab uses the numbers of removed values again.
func TestSlabUsesNumbersAgain(t *testing.T) {
	var s slab[string]
	for range 3 {
		for n := range uint32(3000) {
			if number := s.add("x"); number == 0 || number > 3000 || *s.at(number) != "x" {
				t.Fatalf("value %d has the number %d", n, number)
			}
		}
		for n := range uint32(3000) {
			s.remove(n + 1)
		}
		if s.len() != 0 || *s.at(7) != "" {
			t.Fatalf("%d values remain", s.len())
		}
	}
}
