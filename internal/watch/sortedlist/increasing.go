package sortedlist

import "slices"

// LongestIncreasing returns the indexes of a longest increasing subsequence of numbers, in ascending order. It ignores
// negative numbers. The other numbers must be distinct. It takes O(n log n) time.
func LongestIncreasing(numbers []int) []int {
	// ends[n] is the index of the last number of an increasing subsequence of length n+1. If there are several such
	// subsequences, it is the index of the smallest last number.
	var ends []int
	// before[i] is the index of the number before numbers[i] in the longest increasing subsequence that ends there.
	before := make([]int, len(numbers))
	for at, number := range numbers {
		if number < 0 {
			continue
		}
		length, _ := slices.BinarySearchFunc(ends, number, func(end, number int) int { return numbers[end] - number })
		if length > 0 {
			before[at] = ends[length-1]
		}
		if length == len(ends) {
			ends = append(ends, at)
		}
		ends[length] = at
	}
	// ends has the length of the result. Its last index is correct; follow before to get the others.
	for n := len(ends) - 2; n >= 0; n-- {
		ends[n] = before[ends[n+1]]
	}
	return ends
}
