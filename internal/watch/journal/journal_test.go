package journal_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// object is a value in a journal. Values with the same id are versions of one object.
type object struct{ id, version int }

// testJournal is a journal without memos (data attached to changes). Its Set and Replace have fewer parameters.
type testJournal struct {
	*journal.Journal[string, object, struct{}]
}

func (j *testJournal) Set(key string, value object) { j.Journal.Set(key, value, struct{}{}, 0) }

// Replace replaces all keys and values.
func (j *testJournal) Replace(next []testEntry) {
	j.Journal.Replace(
		func(string) bool { return true }, next, func(string) struct{} { return struct{}{} }, struct{}{},
	)
}

type (
	testChange = journal.Change[string, object, struct{}]
	testEntry  = journal.Entry[string, object]
)

func continues(before, after object) bool { return before.id == after.id }

func newJournal(maxBytes int) *testJournal {
	return &testJournal{journal.New[string, object, struct{}](journal.Options[string, object]{
		Same:      func(before, after object) bool { return before == after },
		Continues: continues,
		Size:      func(object) int { return 100 },
		MaxBytes:  maxBytes,
		MaxAge:    time.Hour,
	})}
}

func ringWeight(j *testJournal) int {
	_, ring := j.Weight()
	return ring
}

func describe(changes []*testChange) (out []string) {
	for _, c := range changes {
		switch c.Op {
		case journal.Add:
			out = append(out, fmt.Sprintf("%d +%s %v", c.Offset, c.Key, c.New))
		case journal.Update:
			out = append(out, fmt.Sprintf("%d ~%s %v->%v", c.Offset, c.Key, c.Old, c.New))
		case journal.Delete:
			out = append(out, fmt.Sprintf("%d -%s %v", c.Offset, c.Key, c.Old))
		}
	}
	return out
}

// Invariant: I2. All clients get the changes in the same order, without gaps and duplicates. A client applies a patch
// only to the version of the object for which the server computed the patch.
func TestChangesAreReadInOrder(t *testing.T) {
	j := newJournal(1 << 20)
	j.Set("a", object{1, 1})
	j.Set("a", object{1, 2})
	j.Set("a", object{1, 2})
	j.Set("a", object{2, 1})
	j.Delete("a")
	j.Delete("a")
	j.Set("b", object{3, 1})
	j.Replace([]testEntry{{"b", object{3, 2}}, {"c", object{4, 1}}})
	j.Replace([]testEntry{{"c", object{5, 1}}})

	changes, cursor, err := j.Next(t.Context(), journal.Cursor{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%q", describe(changes))
	want := fmt.Sprintf("%q", []string{
		"1 +a {1 1}", "2 ~a {1 1}->{1 2}", "3 -a {1 2}", "4 +a {2 1}", "5 -a {2 1}", "6 +b {3 1}",
		"7 ~b {3 1}->{3 2}", "8 +c {4 1}", "9 -b {3 2}", "10 -c {4 1}", "11 +c {5 1}",
	})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if cursor.Offset != 11 {
		t.Errorf("cursor: got %d, want 11", cursor.Offset)
	}
}

func TestFirstReplaceIsOneStep(t *testing.T) {
	j := newJournal(1 << 20)
	_, before := j.Snapshot()
	j.Replace([]testEntry{{"a", object{1, 1}}, {"b", object{2, 1}}})
	if _, _, err := j.Next(t.Context(), before, 10); !errors.Is(err, journal.ErrGone) {
		t.Errorf("cursor from before the first state: got %v, want ErrGone", err)
	}
	entries, _ := j.Snapshot()
	if len(entries) != 2 || j.Len() != 2 || ringWeight(j) != 0 {
		t.Errorf("got entries %v, %d keys, a ring of %d bytes", entries, j.Len(), ringWeight(j))
	}
	all, _ := j.Weight()
	if a, b := j.WeightIn(func(key string) bool { return key == "a" }),
		j.WeightIn(func(key string) bool { return key == "b" }); a == 0 || a+b != all {
		t.Errorf("WeightIn: got %d and %d, want a sum of %d", a, b, all)
	}
}

// Invariant: I13. The history has a maximum size and a maximum age, even if no more changes arrive. If objects from an
// earlier list are still in memory, this list needs little memory in addition to these objects.
func TestRingIsBoundedByBytes(t *testing.T) {
	j := newJournal(10_000)
	for i := range 1000 {
		j.Set("a", object{1, i})
	}
	if ringWeight(j) > 10_000 {
		t.Errorf("got a ring of %d bytes, want at most 10000", ringWeight(j))
	}
	if _, _, err := j.Next(t.Context(), journal.At(1), 10); !errors.Is(err, journal.ErrGone) {
		t.Errorf("old cursor: got %v, want ErrGone", err)
	}
	if _, _, err := j.Next(t.Context(), journal.At(1001), 10); !errors.Is(err, journal.ErrGone) {
		t.Errorf("cursor from the future: got %v, want ErrGone", err)
	}
	if changes, _, err := j.Next(t.Context(), journal.At(999), 10); err != nil || len(changes) != 1 {
		t.Errorf("newest cursor: got %v, error %v, want one change", changes, err)
	}
}

// Invariant: I13.
func TestRingIsBoundedByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal(1 << 20)
		j.Set("a", object{1, 1})
		j.Set("a", object{1, 2})
		time.Sleep(2 * time.Hour) //nolint:forbidigo // A sleep in fake time takes no real time.
		j.Set("a", object{1, 3})
		if _, _, err := j.Next(t.Context(), journal.At(1), 10); !errors.Is(err, journal.ErrGone) {
			t.Errorf("got %v, want ErrGone", err)
		}
		if changes, _, err := j.Next(t.Context(), journal.At(2), 10); err != nil || len(changes) != 1 {
			t.Errorf("got %v, error %v", changes, err)
		}
	})
}

// Trim drops old changes even if no new ones are written. Readers that already have the old changes can continue.
// Invariant: I13.
func TestTrimDropsOldChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal(1 << 20)
		for i := range 500 {
			j.Set("a", object{1, i})
		}
		weight := ringWeight(j)
		j.Trim()
		if got := ringWeight(j); got != weight {
			t.Errorf("Trim: got %d bytes of the last hour, want %d", got, weight)
		}
		read := j.Now()
		time.Sleep(2 * time.Hour) //nolint:forbidigo // A sleep in fake time takes no real time.
		j.Trim()
		if changes, _ := j.Retained(); changes > 1 {
			t.Errorf("Trim: got %d old changes, want only the newest", changes)
		}
		if _, _, err := j.Next(t.Context(), journal.At(1), 10); !errors.Is(err, journal.ErrGone) {
			t.Errorf("old cursor: got %v, want ErrGone", err)
		}
		j.Set("a", object{2, 0})
		if changes, _, err := j.Next(t.Context(), read, 10); err != nil || len(changes) != 2 {
			t.Errorf("got %v, error %v, want a delete and an add", changes, err)
		}
	})
}

func TestNextWaitsForChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal(1 << 20)
		const readers = 50
		got := make([]int, readers)
		var wg sync.WaitGroup
		for i := range readers {
			wg.Go(func() {
				cursor := journal.Cursor{}
				for {
					changes, next, err := j.Next(t.Context(), cursor, 100)
					if err != nil {
						if !errors.Is(err, journal.ErrClosed) {
							t.Errorf("got %v, want ErrClosed", err)
						}
						return
					}
					if len(changes) == 0 {
						got[i] += 1000 // Only Wake causes a read without changes. Count such a read as 1000.
					}
					got[i] += len(changes)
					cursor = next
				}
			})
		}
		for i := range 3 {
			synctest.Wait()
			j.Set("a", object{1, i})
		}
		synctest.Wait()
		j.Wake()
		synctest.Wait()
		j.Set("b", object{1, 1})
		j.Close()
		j.Set("b", object{1, 2})
		wg.Wait()
		for i, n := range got {
			if n != 1004 {
				t.Errorf("reader %d: got %d, want 4 changes and 1 wake (1004)", i, n)
			}
		}
	})
}

func TestNextEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := newJournal(1).Next(ctx, journal.Cursor{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Next with a canceled context: got error %v", err)
	}
}

type reader struct {
	values map[string]object
	cursor journal.Cursor
	resets int
	offset uint64
}

func (r *reader) reset(j *testJournal) {
	entries, cursor := j.Snapshot()
	r.values = make(map[string]object, len(entries))
	for _, e := range entries {
		r.values[e.Key] = e.Value
	}
	r.cursor, r.offset = cursor, cursor.Offset
}

func (r *reader) read(ctx context.Context, j *testJournal, limit int, fold bool) error {
	changes, next, err := j.Next(ctx, r.cursor, limit)
	if errors.Is(err, journal.ErrGone) {
		r.resets++
		r.reset(j)
		return nil
	}
	if err != nil {
		return err
	}
	for i, c := range changes {
		if c.Offset != r.offset+uint64(i)+1 {
			return fmt.Errorf("offset %d follows %d", c.Offset, r.offset+uint64(i))
		}
	}
	r.offset = next.Offset
	if fold {
		changes = journal.Fold(changes, continues)
	}
	for _, c := range changes {
		value, ok := r.values[c.Key]
		if ok != (c.Op != journal.Add) || ok && value != c.Old {
			return fmt.Errorf("change %v: the reader has %v (exists: %v)", describe([]*testChange{c}), value, ok)
		}
		if c.Op == journal.Update && !continues(c.Old, c.New) {
			return fmt.Errorf("change %v: update to an object with another UID", describe([]*testChange{c}))
		}
		if c.Op == journal.Delete {
			delete(r.values, c.Key)
		} else {
			r.values[c.Key] = c.New
		}
	}
	r.cursor = next
	return nil
}

func applyRandomChanges(j *testJournal, random *rand.Rand, n int) {
	key := func() string { return strconv.Itoa(random.IntN(12)) }
	value := func() object { return object{random.IntN(3), random.IntN(4)} }
	for range n {
		switch random.IntN(20) {
		case 0:
			next := map[string]object{}
			for range random.IntN(12) {
				next[key()] = value()
			}
			entries := make([]testEntry, 0, len(next))
			for k, v := range next {
				entries = append(entries, testEntry{k, v})
			}
			j.Replace(entries)
		case 1:
			j.Wake()
		case 2, 3, 4, 5:
			j.Delete(key())
		default:
			j.Set(key(), value())
		}
	}
}

func state(j *testJournal) map[string]object {
	entries, _ := j.Snapshot()
	values := make(map[string]object, len(entries))
	for _, e := range entries {
		values[e.Key] = e.Value
	}
	return values
}

// Invariant: I1. A client that applies a snapshot, and then all changes that the server sends after it, has the state
// of the cluster, even if objects change while the server makes or sends the snapshot.
func TestAnyReaderConverges(t *testing.T) {
	resets := 0
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // The test must be reproducible.
		j := newJournal(2000 + random.IntN(10_000))
		r := &reader{}
		r.reset(j)
		for range 30 {
			applyRandomChanges(j, random, random.IntN(20))
			limit, fold := 1+random.IntN(40), random.IntN(2) == 0
			if random.IntN(10) == 0 {
				r.cursor = journal.At(r.cursor.Offset)
			}
			j.Wake()
			if err := r.read(t.Context(), j, limit, fold); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		j.Close()
		for {
			err := r.read(t.Context(), j, 1+random.IntN(5), true)
			if errors.Is(err, journal.ErrClosed) {
				break
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if want := state(j); !maps.Equal(r.values, want) {
			t.Fatalf("seed %d: reader's copy: got %v, want %v", seed, r.values, want)
		}
		resets += r.resets
	}
	if resets == 0 {
		t.Error("no reader was reset, so the test does not cover a lost cursor")
	}
}

// Invariant: I1.
func TestConcurrentReadersConverge(t *testing.T) {
	j := newJournal(20_000)
	for i := range 5000 { // More keys than keysPerLock, so that Snapshot copies them in several steps.
		j.Set(fmt.Sprint("old-", i), object{1, 1})
	}
	var wg sync.WaitGroup
	readers := make([]*reader, 16)
	for i := range readers {
		readers[i] = &reader{}
		wg.Go(func() {
			readers[i].reset(j)
			for {
				err := readers[i].read(t.Context(), j, 1+i*10, i%2 == 0)
				if errors.Is(err, journal.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	applyRandomChanges(j, rand.New(rand.NewPCG(7, 7)), 20_000) //nolint:gosec // The test must be reproducible.
	j.Close()
	wg.Wait()
	for i, r := range readers {
		if !maps.Equal(r.values, state(j)) {
			t.Errorf("reader %d: its copy differs from the state", i)
		}
	}
}

func BenchmarkJournalSet(b *testing.B) {
	for _, readers := range []int{0, 1000} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			j := newJournal(1 << 20)
			ctx, cancel := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			for range readers {
				wg.Go(func() {
					cursor := journal.Cursor{}
					for ctx.Err() == nil {
						_, next, err := j.Next(ctx, cursor, 1000)
						if errors.Is(err, journal.ErrGone) {
							_, next = j.Snapshot()
						}
						cursor = next
					}
				})
			}
			i := 0
			for b.Loop() {
				i++
				j.Set("a", object{1, i})
			}
			cancel()
			wg.Wait()
		})
	}
}

// NextWithin creates no timer if changes are available.
func TestNextWithinSetsTimerOnlyToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal(1 << 20)
		set := 0
		timer := func() <-chan time.Time { set++; return time.After(time.Second) }
		j.Set("a", object{1, 1})
		changes, cursor, err := j.NextWithin(t.Context(), timer, journal.Cursor{}, 10)
		if err != nil || len(changes) != 1 || set != 0 {
			t.Errorf("got %v, error %v, and the timer was set %d times", changes, err, set)
		}
		start := time.Now()
		if _, _, err := j.NextWithin(t.Context(), timer, cursor, 10); !errors.Is(err, journal.ErrNoChange) ||
			time.Since(start) != time.Second {
			t.Errorf("got %v after %s, want ErrNoChange after 1s", err, time.Since(start))
		}
	})
}

// A read during a write returns either the requested changes or ErrGone.
// Invariant: I5. A journal contains the objects of a resource and their recent changes. A goroutine that writes to a
// journal never waits for readers. Each change wakes all readers that wait for changes. After the context of a reader
// has ended, the reader gets no more changes.
func TestInterruptedReadIsConsistent(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // The test must be reproducible.
		// 3000 bytes are about 12 changes, so the ring buffer of the history often wraps, grows and shrinks.
		j := newJournal(3000)
		applyRandomChanges(j, random, 30)
		from := j.Now().Offset - min(j.Now().Offset, 5)
		read := j.BeginRead(journal.At(from), 5)
		applyRandomChanges(j, random, random.IntN(60))
		changes, err := read()
		if err != nil && !errors.Is(err, journal.ErrGone) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, c := range changes {
			if c.Offset != from+uint64(i)+1 {
				t.Fatalf("seed %d: got offset %d, want %d", seed, c.Offset, from+uint64(i)+1)
			}
		}
	}
}

// Invariant: I5.
func TestWaitingReaderMissesNoChange(t *testing.T) {
	const readers, rounds = 100, 1000
	j := newJournal(1 << 20)
	seen := make(chan uint64, 4*readers)
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for cursor := (journal.Cursor{}); ; {
				_, next, err := j.Next(t.Context(), cursor, 10)
				if err != nil {
					return
				}
				cursor = next
				seen <- next.Offset
			}
		})
	}
	for round := range rounds {
		timeout := time.After(time.Minute)
		j.Set("a", object{1, 2 * round})
		awake, last := 0, uint64(2*round+2) //nolint:gosec // The numbers are small.
		for awake < readers {
			select {
			case offset := <-seen:
				if awake == 0 && offset < last {
					j.Set("a", object{1, 2*round + 1})
					awake = -1 // awake is no longer 0, so this write happens only once in each round.
				}
				if offset == last {
					awake = max(awake, 0) + 1
				}
			case <-timeout:
				t.Fatalf("round %d: %d of %d readers got the last change", round, awake, readers)
			}
		}
	}
	j.Close()
	wg.Wait()
}
