package journal_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

func TestHistoryReturnsLastChangesUpToCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal(5 * 376) // The ring has room for five updates of 376 bytes.
		if got := j.History(j.Now(), 10); len(got) > 0 {
			t.Errorf("history before the first state: got %v, want none", describe(got))
		}
		j.Replace([]testEntry{{Key: "a", Value: object{1, 0}}})
		if retained, completeSince := j.Retained(); len(j.History(j.Now(), 10)) > 0 || retained != 0 ||
			!completeSince.IsZero() {
			t.Errorf("after the first state: got %d changes since %s, want none", retained, completeSince)
		}
		start := time.Now()
		for i := range 8 {
			<-time.After(time.Second)
			j.Set("a", object{1, i + 1})
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
			for _, c := range j.History(journal.At(test.until), test.limit) {
				offsets = append(offsets, c.Offset)
			}
			if got := fmt.Sprint(offsets); got != test.want {
				t.Errorf("last %d changes up to %d: got %s, want %s", test.limit, test.until, got, test.want)
			}
		}
		if retained, completeSince := j.Retained(); retained != 5 || completeSince.Sub(start) != 3*time.Second {
			t.Errorf("got %d changes, complete since %s; want 5 and 3s, the time of the last dropped change",
				retained, completeSince.Sub(start))
		}
		<-time.After(time.Second)
		j.Forget()
		if retained, completeSince := j.Retained(); retained != 0 || completeSince != time.Now() {
			t.Errorf("after Forget: got %d changes, complete since %s; want none and now", retained, completeSince.Sub(start))
		}
	})
}

// A Memo is additional data of a change. Its size counts towards the memory limit of the history.
// Invariant: I3.
func TestMemoSizeCountsTowardHistoryLimit(t *testing.T) {
	j := journal.New[string, object, *string](journal.Options[string, object]{
		Same:      func(before, after object) bool { return before == after },
		Continues: continues,
		Size:      func(object) int { return 100 },
		MaxBytes:  1000,
		MaxAge:    time.Hour,
	})
	freed := make(chan string, 10)
	set := func(value object, note string, weight int) {
		memo := new(note)
		runtime.AddCleanup(memo, func(note string) { freed <- note }, note)
		j.Set("a", value, memo, weight)
	}
	set(object{1, 1}, "add", 300)
	_, before := j.Weight()
	set(object{1, 1}, "no difference", 300)
	if _, got := j.Weight(); got != before || got != 300+176+100 {
		t.Errorf("Weight: got %d, then %d after an equal object, want %d", before, got, 300+176+100)
	}
	changes, next, err := j.Next(t.Context(), journal.At(0), 10)
	if err != nil || len(changes) != 1 || *changes[0].Memo != "add" {
		t.Fatalf("Next: got changes %+v, error %v", changes, err)
	}
	set(object{2, 1}, "another thing", 0)
	changes, _, err = j.Next(t.Context(), next, 10)
	if err != nil || len(changes) != 2 || changes[0].Memo != nil || *changes[1].Memo != "another thing" {
		t.Fatalf("Next: got changes %+v, error %v; want a delete without a memo and an add with its memo", changes, err)
	}
	set(object{2, 2}, "too heavy for the others", 1000)
	var dropped []string
	for deadline := time.After(time.Minute); len(dropped) < 3; {
		runtime.GC()
		select {
		case note := <-freed:
			dropped = append(dropped, note)
		case <-deadline:
			t.Fatalf("only the memos %q were freed after the ring dropped their changes", dropped)
		default:
		}
	}
	slices.Sort(dropped)
	if got, _, _ := j.Get("a"); fmt.Sprint(dropped) != "[add another thing no difference]" || got != (object{2, 2}) {
		t.Errorf("got freed memos %q and state %v", dropped, got)
	}
	runtime.KeepAlive(j)
}

// Mark adds a change that has an offset, but no key and no values.
func TestMarkAddsChangeWithoutKey(t *testing.T) {
	j := newJournal(1 << 20)
	j.Set("a", object{1, 1})
	j.Mark()
	j.Set("a", object{1, 2})
	j.Mark()
	changes, cursor, err := j.Next(t.Context(), journal.Cursor{}, 100)
	if err != nil || len(changes) != 4 || cursor.Offset != 4 || changes[1].Op != 0 || j.Len() != 1 {
		t.Errorf("got %d changes up to %d (error %v), want 4 with two marks", len(changes), cursor.Offset, err)
	}
	if folded := journal.Fold(changes, continues); len(folded) != 1 || folded[0].Op != journal.Add {
		t.Errorf("Fold: got %v, want one add", describe(folded))
	}
}
