package sortedlist_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/sortedlist"
)

// member is compared only by rank; its version shows which of two equal members the list contains.
type member struct{ rank, version int }

func compare(a, b member) int { return cmp.Compare(a.rank, b.rank) }

// After each Change, the List equals a sorted slice of the same members.
// Invariant: I9.
func TestChangedListStaysSorted(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // The test must be reproducible.
		present := make(map[int]member)
		var first []member
		for range random.IntN(30) {
			m := member{random.IntN(60), 0}
			if _, ok := present[m.rank]; !ok {
				present[m.rank] = m
				first = append(first, m)
			}
		}
		list := sortedlist.New(first, compare)
		for version := range 20 {
			var removed, added []member
			for _, m := range present {
				if random.IntN(4) == 0 {
					removed = append(removed, member{m.rank, -1})
				}
			}
			for _, m := range removed {
				delete(present, m.rank)
			}
			for range random.IntN(8) {
				m := member{random.IntN(60), version}
				if _, ok := present[m.rank]; !ok {
					present[m.rank] = m
					added = append(added, m)
				}
			}
			if !list.Change(removed, added) {
				t.Fatalf("seed %d: Change: could not add %v and remove %v", seed, added, removed)
			}
			want := make([]member, 0, len(present))
			for _, m := range present {
				want = append(want, m)
			}
			slices.SortFunc(want, compare)
			if got := list.Part(0, 1000); !slices.Equal(got, want) || list.Len() != len(want) {
				t.Fatalf("seed %d: got %v, want %v", seed, got, want)
			}
			for rank := range 60 {
				want := slices.IndexFunc(want, func(m member) bool { return m.rank == rank })
				if index, ok := list.Find(member{rank, -1}); ok != (want >= 0) || ok && index != want {
					t.Fatalf("seed %d: Find(%d): got %d, %t; want %d", seed, rank, index, ok, want)
				}
			}
			from, count := random.IntN(70), random.IntN(70)
			end := min(len(want), from+count)
			if got := list.Part(from, count); !slices.Equal(got, want[min(from, end):end]) {
				t.Fatalf("seed %d: Part from %d: got %v, want %v", seed, from, got, want[min(from, end):end])
			}
		}
	}
}

// Invariant: I9.
func TestFirstReturnsLeastMembersInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3)) //nolint:gosec // The test must be reproducible.
	for range 2000 {
		members := make([]int, random.IntN(60))
		for i := range members {
			members[i] = random.IntN(200)
		}
		want, n := slices.Sorted(slices.Values(members)), random.IntN(70)
		want = want[:min(n, len(want))]
		if got := sortedlist.First(slices.Clone(members), n, cmp.Compare); !slices.Equal(got, want) {
			t.Fatalf("First %d of %v: got %v, want %v", n, members, got, want)
		}
	}
}

func TestChangeRejectsInvalidMembers(t *testing.T) {
	first, second := member{1, 0}, member{2, 0}
	for _, test := range []struct {
		name                    string
		members, removed, added []member
	}{
		{"a missing member is removed", []member{first}, []member{second}, nil},
		{"a member is removed twice", []member{first, second}, []member{first, first}, nil},
		{"an added member exists", []member{first}, nil, []member{first}},
		{"a member is added twice", nil, nil, []member{first, first}},
		{"a member is replaced with two", []member{first}, []member{first}, []member{first, first}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if sortedlist.New(slices.Clone(test.members), compare).Change(test.removed, test.added) {
				t.Errorf("%s: Change: got true, want false", test.name)
			}
		})
	}
}

func BenchmarkSortedListChange(b *testing.B) {
	const size = 100_000
	for _, batch := range []int{1, 1000} {
		b.Run(strconv.Itoa(batch), func(b *testing.B) {
			pointers := make([]*member, size)
			for i := range pointers {
				pointers[i] = &member{i * 2, 0}
			}
			list := sortedlist.New(slices.Clone(pointers), func(a, b *member) int { return compare(*a, *b) })
			random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The test must be reproducible.
			for b.Loop() {
				removed, added := make([]*member, 0, batch), make([]*member, 0, batch)
				from := random.IntN(size - batch)
				for i := range batch {
					k := from + i
					removed = append(removed, pointers[k])
					pointers[k] = &member{pointers[k].rank ^ 1, 0}
					added = append(added, pointers[k])
				}
				if !list.Change(removed, added) {
					b.Fatal("Change: got false, want true")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/change")
		})
	}
}
