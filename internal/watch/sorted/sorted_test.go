package sorted_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"glasshouse/internal/watch/sorted"
)

// member is ordered by its rank. Its version is not compared.
type member struct{ rank, version int }

func compare(a, b member) int { return cmp.Compare(a.rank, b.rank) }

// With any removals and insertions in one Change, the list equals a plain sort.
func TestChange(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // A test that can be reproduced.
		held := make(map[int]member)
		var first []member
		for range random.IntN(30) {
			m := member{random.IntN(60), 0}
			if _, ok := held[m.rank]; !ok {
				held[m.rank] = m
				first = append(first, m)
			}
		}
		list := sorted.New(first, compare)
		for version := range 20 {
			var gone, come []member
			for _, m := range held {
				if random.IntN(4) == 0 {
					gone = append(gone, member{m.rank, -1})
				}
			}
			for _, m := range gone {
				delete(held, m.rank)
			}
			for range random.IntN(8) {
				m := member{random.IntN(60), version}
				if _, ok := held[m.rank]; !ok {
					held[m.rank] = m
					come = append(come, m)
				}
			}
			if !list.Change(gone, come) {
				t.Fatalf("seed %d: it does not take %v for %v", seed, come, gone)
			}
			want := make([]member, 0, len(held))
			for _, m := range held {
				want = append(want, m)
			}
			slices.SortFunc(want, compare)
			if got := list.Part(0, 1000); !slices.Equal(got, want) || list.Len() != len(want) {
				t.Fatalf("seed %d: got %v, want %v", seed, got, want)
			}
			for rank := range 60 {
				want := slices.IndexFunc(want, func(m member) bool { return m.rank == rank })
				if at, ok := list.Find(member{rank, -1}); ok != (want >= 0) || ok && at != want {
					t.Fatalf("seed %d: %d is found at %d, %t; want %d", seed, rank, at, ok, want)
				}
			}
			from, count := random.IntN(70), random.IntN(70)
			end := min(len(want), from+count)
			if got := list.Part(from, count); !slices.Equal(got, want[min(from, end):end]) {
				t.Fatalf("seed %d: from %d are %v, want %v", seed, from, got, want[min(from, end):end])
			}
		}
	}
}

// First returns the same members as a plain sort.
func TestFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3)) //nolint:gosec // A test that can be reproduced.
	for range 2000 {
		members := make([]int, random.IntN(60))
		for i := range members {
			members[i] = random.IntN(200)
		}
		want, n := slices.Sorted(slices.Values(members)), random.IntN(70)
		want = want[:min(n, len(want))]
		if got := sorted.First(slices.Clone(members), n, cmp.Compare); !slices.Equal(got, want) {
			t.Fatalf("the first %d of %v: got %v, want %v", n, members, got, want)
		}
	}
}

// Change reports changes that do not fit.
func TestWhatDoesNotFit(t *testing.T) {
	one, two := member{1, 0}, member{2, 0}
	for _, test := range []struct {
		name             string
		has, gone, comes []member
	}{
		{"one that is not there goes", []member{one}, []member{two}, nil},
		{"one goes twice", []member{one, two}, []member{one, one}, nil},
		{"one comes that is there", []member{one}, nil, []member{one}},
		{"one comes twice", nil, nil, []member{one, one}},
		{"one comes twice for one", []member{one}, []member{one}, []member{one, one}},
	} {
		if sorted.New(slices.Clone(test.has), compare).Change(test.gone, test.comes) {
			t.Errorf("%s, and nobody minds", test.name)
		}
	}
}

// One change that moves a member, among the given number; and a thousand changes together.
func BenchmarkChange(b *testing.B) {
	const many = 100_000
	for _, together := range []int{1, 1000} {
		b.Run(strconv.Itoa(together), func(b *testing.B) {
			pointers := make([]*member, many)
			for i := range pointers {
				pointers[i] = &member{i * 2, 0}
			}
			list := sorted.New(slices.Clone(pointers), func(a, b *member) int { return compare(*a, *b) })
			random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The same in every run.
			for b.Loop() {
				gone, come := make([]*member, 0, together), make([]*member, 0, together)
				from := random.IntN(many - together)
				for i := range together {
					k := from + i
					gone = append(gone, pointers[k])
					pointers[k] = &member{pointers[k].rank ^ 1, 0}
					come = append(come, pointers[k])
				}
				if !list.Change(gone, come) {
					b.Fatal("it does not fit")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*together), "ns/change")
		})
	}
}
