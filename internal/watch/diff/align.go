package diff

import (
	"hash/maphash"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/sortedlist"
)

// listKeys returns the keys that identify the elements of associative lists, the most specific first. They are those of
// client-go v0.37.2 (applyconfigurations/internal).
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
		// The endpoints of an EndpointSlice have no key in the schema, so use their addresses.
		{"addresses"},
	}
}

type pair struct{ a, b int }

// align returns pairs of matching elements of two arrays. A pair contains the index of the element in each array. The
// indices ascend in both arrays. align compares hashes of elements. If different elements have the same hash, the patch
// is longer than necessary, but still correct.
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
	indexes := sortedlist.LongestIncreasing(m.toA)
	pairs := make([]pair, len(indexes))
	for n, j := range indexes {
		pairs[n] = pair{m.toA[j], j}
	}
	return pairs
}

// matching contains the partner of each element in the other array. toB[i] is the index in bs of the partner of as[i],
// and toA[j] is the index in as of the partner of bs[j]; -1 means none.
type matching struct {
	as, bs   []node
	toB, toA []int
}

// match pairs elements of both arrays that have the same hash (the result of identity) and no partner yet. If several
// elements of an array have the same hash, match uses the first of them that has no partner.
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
