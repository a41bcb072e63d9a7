package journal_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch/journal"
)

func TestPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal(5 * 376) // Five updates.
		if got := j.Past(j.Now(), 10); len(got) > 0 {
			t.Errorf("before the first state the past is %v", describe(got))
		}
		j.Replace([]testEntry{{Key: "a", Value: thing{1, 0}}})
		if kept, since := j.Kept(); len(j.Past(j.Now(), 10)) > 0 || kept != 0 || !since.IsZero() {
			t.Errorf("after the first state %d changes are kept, since %s", kept, since)
		}
		start := time.Now()
		for i := range 8 {
			<-time.After(time.Second)
			j.Set("a", thing{1, i + 1})
		}
		for _, test := range []struct {
			until uint64
			limit int
			want  string
		}{
			{9, 10, "[5 6 7 8 9]"},
			{9, 2, "[8 9]"},
			{7, 2, "[6 7]"},
			{6, 10, "[5 6]"},
			{5, 1, "[5]"},
			{4, 10, "[]"},
			{0, 10, "[]"},
			{10, 10, "[]"},
			{9, 0, "[]"},
		} {
			offsets := []uint64{}
			for _, c := range j.Past(journal.At(test.until), test.limit) {
				offsets = append(offsets, c.Offset)
			}
			if got := fmt.Sprint(offsets); got != test.want {
				t.Errorf("the last %d up to %d are %s, want %s", test.limit, test.until, got, test.want)
			}
		}
		if kept, since := j.Kept(); kept != 5 || since.Sub(start) != 3*time.Second {
			t.Errorf("%d changes are kept, all since %s; want 5, and 3s: when the last was that it dropped",
				kept, since.Sub(start))
		}
		<-time.After(time.Second)
		j.Forget()
		if kept, since := j.Kept(); kept != 0 || since != time.Now() {
			t.Errorf("after Forget %d changes are kept, all since %s", kept, since.Sub(start))
		}
	})
}

// The data that is given with a change counts in the ring, and is freed with the change.
func TestSetWith(t *testing.T) {
	j := journal.New[string, thing, *string](journal.Options[string, thing]{
		Same:      func(before, after thing) bool { return before == after },
		Continues: continues,
		Size:      func(thing) int { return 100 },
		MaxBytes:  1000,
		MaxAge:    time.Hour,
	})
	gone := make(chan string, 10)
	set := func(value thing, note string, weight int) {
		memo := new(note)
		runtime.AddCleanup(memo, func(note string) { gone <- note }, note)
		j.SetWith("a", value, memo, weight)
	}
	set(thing{1, 1}, "add", 300)
	_, before := j.Weight()
	set(thing{1, 1}, "nothing to tell", 300)
	if _, got := j.Weight(); got != before || got != 300+176+100 {
		t.Errorf("the weight is %d and then %d, want %d", before, got, 300+176+100)
	}
	changes, next, err := j.Next(t.Context(), journal.At(0), 10)
	if err != nil || len(changes) != 1 || *changes[0].Memo != "add" {
		t.Fatalf("changes are %+v, %v", changes, err)
	}
	set(thing{2, 1}, "another thing", 0)
	changes, _, err = j.Next(t.Context(), next, 10)
	if err != nil || len(changes) != 2 || changes[0].Memo != nil || *changes[1].Memo != "another thing" {
		t.Fatalf("changes are %+v, %v; want a delete without and an add with what was given", changes, err)
	}
	set(thing{2, 2}, "too heavy for the others", 1000)
	var dropped []string
	for deadline := time.After(time.Minute); len(dropped) < 3; {
		runtime.GC()
		select {
		case note := <-gone:
			dropped = append(dropped, note)
		case <-deadline:
			t.Fatalf("of what the ring no longer holds only %q have gone", dropped)
		default:
		}
	}
	slices.Sort(dropped)
	if got, _, _ := j.Get("a"); fmt.Sprint(dropped) != "[add another thing nothing to tell]" || got != (thing{2, 2}) {
		t.Errorf("%q have gone, and the state is %v", dropped, got)
	}
	runtime.KeepAlive(j)
}

// A mark takes an offset and changes nothing, even if changes around it are merged.
func TestMark(t *testing.T) {
	j := newJournal(1 << 20)
	j.Set("a", thing{1, 1})
	j.Mark()
	j.Set("a", thing{1, 2})
	j.Mark()
	changes, cursor, err := j.Next(t.Context(), journal.Cursor{}, 100)
	if err != nil || len(changes) != 4 || cursor.Offset != 4 || changes[1].Op != 0 || j.Len() != 1 {
		t.Errorf("%d changes up to %d (%v), want 4, two of them marks", len(changes), cursor.Offset, err)
	}
	if folded := journal.Fold(changes, continues); len(folded) != 1 || folded[0].Op != journal.Add {
		t.Errorf("merged they are %v", describe(folded))
	}
}
