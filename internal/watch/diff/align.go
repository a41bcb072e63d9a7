package diff

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// listKeys returns the keys of associative lists in client-go v0.37.2 (applyconfigurations/internal), the most
// specific first.
func listKeys() [][]string {
	return [][]string{
		{"mountPath"},
		{"devicePath"},
		{"containerPort", "protocol"},
		{"port", "protocol"},
		{"topologyKey", "whenUnsatisfiable"},
		{"driver", "pool", "device"},
		{"uid"},
		{"ip"},
		{"resourceID"},
		{"resourceClaimName"},
		{"apiServerID"},
		{"name"},
		{"type"},
		{"status", "reason"},
		// For endpoints of an EndpointSlice, which have no key in the schema.
		{"addresses"},
	}
}

type pair struct{ a, b int }

// align returns the indices of matching elements, ascending in both arrays. A hash collision makes the patch longer,
// not incorrect.
func align(as, bs []node) []pair {
	if len(as)*len(bs) <= 1 {
		return nil
	}
	m := matching{
		as: as, toB: slices.Repeat([]int{-1}, len(as)),
		bs: bs, toA: slices.Repeat([]int{-1}, len(bs)),
	}
	seed := maphash.MakeSeed()
	m.match(func(n *node) uint64 { return maphash.Bytes(seed, n.text) })
	if key := m.key(); key != nil {
		m.match(func(n *node) uint64 {
			var h maphash.Hash
			h.SetSeed(seed)
			for _, name := range key {
				h.Write(n.member(name))
				h.WriteByte(0)
			}
			return h.Sum64()
		})
	}
	return longestIncreasing(m.toA)
}

// matching contains each element's partner: toB[i] is the index in bs of the partner of as[i], or -1.
type matching struct {
	as, bs   []node
	toB, toA []int
}

// match makes pairs of elements that have the same hash and no partner yet. Both arrays are processed in order.
func (m *matching) match(identity func(*node) uint64) {
	first := make(map[uint64]int, len(m.as))
	next := make([]int, len(m.as))
	for i := range slices.Backward(m.as) {
		if m.toB[i] >= 0 {
			continue
		}
		id := identity(&m.as[i])
		next[i] = -1
		if later, ok := first[id]; ok {
			next[i] = later
		}
		first[id] = i
	}
	for j := range m.bs {
		if m.toA[j] >= 0 {
			continue
		}
		id := identity(&m.bs[j])
		if i, ok := first[id]; ok && i >= 0 {
			m.toA[j], m.toB[i] = i, j
			first[id] = next[i]
		}
	}
}

func (m *matching) key() []string {
	for _, names := range listKeys() {
		if hasKey(m.as, m.toB, names) && hasKey(m.bs, m.toA, names) {
			return names
		}
	}
	return nil
}

func hasKey(nodes []node, partner []int, names []string) bool {
	for i := range nodes {
		if partner[i] >= 0 {
			continue
		}
		for _, name := range names {
			if nodes[i].member(name) == nil {
				return false
			}
		}
	}
	return true
}

// longestIncreasing returns the longest sequence of pairs whose indices ascend in both arrays, in O(n log n) time.
func longestIncreasing(toA []int) []pair {
	// before[j] is the index before j in the longest sequence that ends at j.
	before := make([]int, len(toA))
	// Several sequences can have n+1 pairs. Of these sequences, one ends with the smallest index in a. ends[n] is the
	// last pair of that sequence.
	var ends []int
	for j, i := range toA {
		if i < 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, i, func(end, i int) int { return cmp.Compare(toA[end], i) })
		if n == len(ends) {
			ends = append(ends, j)
		}
		ends[n] = j
		if n > 0 {
			before[j] = ends[n-1]
		}
	}
	if len(ends) == 0 {
		return nil
	}
	pairs := make([]pair, len(ends))
	j := ends[len(ends)-1]
	for n := range slices.Backward(pairs) {
		pairs[n] = pair{toA[j], j}
		j = before[j]
	}
	return pairs
}
