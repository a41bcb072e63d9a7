package sortedlist_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/sortedlist"
)

// The result ascends, omits negative numbers, and is as long as the longest subsequence of an exhaustive search.
func TestLongestIncreasing(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // The test must be reproducible.
		numbers := random.Perm(random.IntN(12))
		for at := range numbers {
			if random.IntN(4) == 0 {
				numbers[at] = -1
			}
		}
		found := sortedlist.LongestIncreasing(numbers)
		if want := longest(numbers, -1); len(found) != want {
			t.Fatalf("%v: got indexes %v, want %d of them", numbers, found, want)
		}
		before := -1
		for _, at := range found {
			if numbers[at] <= before {
				t.Fatalf("%v: the numbers at %v do not ascend", numbers, found)
			}
			before = numbers[at]
		}
		if !slices.IsSorted(found) {
			t.Fatalf("%v: got indexes %v in the wrong order", numbers, found)
		}
	}
}

// longest returns the length of the longest increasing subsequence of numbers greater than least.
func longest(numbers []int, least int) (length int) {
	for at, number := range numbers {
		if number > least {
			length = max(length, 1+longest(numbers[at+1:], number))
		}
	}
	return length
}
