package diff

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// listKeys are the sets of members by which Kubernetes identifies the elements of a list: the keys of associative lists
// in the schema of client-go v0.37.2, in applyconfigurations/internal. More specific keys are first, because a volume
// mount also has a name, which may not be unique. The shareID of claimed devices is left out, because it is optional.
// Endpoints of an EndpointSlice have no key in that schema; their addresses are used as one.
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
		{"addresses"},
	}
}

// A pair is the index of an element in the array a, and the index of the same element in the array b.
type pair struct{ a, b int }

// align returns which elements of as became which elements of bs, as pairs with ascending indices. The pairs affect
// only the length of the patch, not whether it is correct, so hashes can be compared instead of texts.
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

// A matching pairs the elements of two arrays: toB and toA contain the index of the partner, or -1 for an element
// without a partner.
type matching struct {
	as, bs   []node
	toB, toA []int
}

// match pairs those elements without a partner for which identity returns the same hash. If several elements of an
// array have the same hash, the first one is paired with the first one of the other array, and so on.
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

// key returns the first of listKeys whose members exist in all elements without a partner.
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

// longestIncreasing returns the longest sequence of pairs whose indices ascend in both arrays. toA is the index in a of
// each element of b, or -1 for none. It takes n log n steps.
func longestIncreasing(toA []int) []pair {
	before := make([]int, len(toA)) // The pair before this one in its run.
	var ends []int                  // For each length, the run with the least end in a: the index in b of its end.
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
