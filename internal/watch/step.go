package watch

import (
	"bytes"
	"slices"
	"strconv"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/wire"
)

// step is the difference between a page (the rows that a window shows) and a later page of the same range.
type step struct {
	whole bool   // Too much has changed; the new page is sent completely.
	text  []byte // The encoded events, unless whole is set. Members that depend on the reader are added before them.
}

// few is the number of inserted rows up to which only the differences of a page are sent. For pages with more than
// twice as many rows, the limit is half of the rows.
const few = 8

// newStep encodes the differences between two pages as events: the removed rows from the last to the first, then the
// inserted rows from the first to the last, then the updated rows. Each index is therefore valid when a client applies
// the events in order.
//
//nolint:gocognit // Three plain loops, one after the other.
func newStep(from, to *frame, r *ranking, recent *recent) (*step, error) {
	was, stays := staying(from.rows, to.rows)
	if come := len(to.rows) - len(stays); come > max(few, len(to.rows)/2) {
		return &step{whole: true}, nil
	}
	changes := newest(from, to, r.informer)
	text := append(to.counts.append(nil), `,"events":[`...)
	begin := func(op string, at int) {
		if text[len(text)-1] != '[' {
			text = append(text, ',')
		}
		text = append(append(text, `{"op":"`...), op...)
		text = strconv.AppendInt(append(text, `","at":`...), int64(at), 10)
	}
	comes := coming(to.rows, was)
	var err error
	// other appends the members for the new version of a row, which end the event.
	other := func(before, after *wire.Object) {
		text = append(after.AppendVersion(text), `,"cells":`...)
		if text, err = appendChangedCells(text, before.Cells(), after.Cells()); err == nil {
			c := changes[after]
			if c != nil && c.Old.ResourceVersion() != before.ResourceVersion() {
				// The changes that were read do not include all changes of the object, so the author is omitted.
				c = nil
			}
			text, err = appendChangeAuthor(text, c, recent)
		}
	}
	for at, row := range slices.Backward(from.rows) {
		if _, ok := stays[at]; ok || err != nil {
			continue
		}
		begin("remove", at)
		why, now := r.why(row)
		if why != "" {
			text = append(append(append(text, `,"why":"`...), why...), '"')
		}
		if now != nil && why != "" && !comes[now] {
			other(row.object, now)
		} else {
			text = append(text, '}')
		}
	}
	for at, row := range to.rows {
		if was[at] < 0 && err == nil {
			begin("insert", at)
			text = row.object.AppendRow(append(text, `,"row":`...))
			text, err = appendChangeAuthor(text, changes[row.object], recent)
		}
	}
	for at, row := range to.rows {
		if was[at] < 0 || err != nil || sameRow(from.rows[was[at]].object, row.object) {
			continue
		}
		begin("update", at)
		other(from.rows[was[at]].object, row.object)
	}
	return &step{text: append(text, ']')}, err
}

// coming returns the set of objects whose rows were not on the page before.
func coming(rows []*rankRow, was []int) map[*wire.Object]bool {
	comes := make(map[*wire.Object]bool)
	for at, row := range rows {
		if was[at] < 0 {
			comes[row.object] = true
		}
	}
	return comes
}

// sameRow reports whether two versions of an object show a reader the same row.
func sameRow(a, b *wire.Object) bool {
	return a == b || a.ResourceVersion() == b.ResourceVersion() && bytes.Equal(a.Cells(), b.Cells())
}

// newest returns the changes between two pages. The key is the object as it is after the change. Changes of one object
// are folded into one. Changes that have left the history are missing.
func newest(from, to *frame, i *informer) map[*wire.Object]*change {
	changes := i.Past(journal.At(to.newest), int(min(to.newest-from.newest, batch))) //nolint:gosec // At most a batch.
	made := make(map[*wire.Object]*change, len(changes))
	for _, c := range fold(changes) {
		if c.Op == journal.Update {
			made[c.New] = c
		}
	}
	return made
}

// appendChangeAuthor appends the author of the change, if it is known, and ends the event.
func appendChangeAuthor(dst []byte, c *change, recent *recent) ([]byte, error) {
	if c == nil {
		return append(dst, '}'), nil
	}
	dst, err := appendRowAuthor(dst, c, recent)
	return append(dst, '}'), err
}

// staying compares the rows of two pages. was contains, for each row of after, its index in before, or -1 for an
// inserted row. stays contains the rows of before that stay, with their new index. They keep their order, and as many
// as possible stay. All other rows are removed, and inserted elsewhere.
func staying(before, after []*rankRow) (was []int, stays map[int]int) {
	places := make(map[*rankRow]int, len(before))
	for at, row := range before {
		places[row] = at
	}
	was = make([]int, len(after))
	for at, row := range after {
		was[at] = -1
		if place, ok := places[row]; ok {
			was[at] = place
			delete(places, row)
		}
	}
	others := make(map[string]int, len(places)) // Rows that were changed or removed.
	for row, at := range places {
		others[keyOf(row.object.Namespace(), row.object.Name())] = at
	}
	for at, row := range after {
		if was[at] >= 0 || len(others) == 0 {
			continue
		}
		if place, ok := others[keyOf(row.object.Namespace(), row.object.Name())]; ok &&
			sameThing(before[place].object, row.object) {
			was[at] = place
		}
	}
	stays = rising(was)
	for at, place := range was {
		if to, ok := stays[place]; !ok || to != at {
			was[at] = -1
		}
	}
	return was, stays
}

// rising returns the longest subsequence of numbers that increases: the numbers with their indexes. Negative numbers
// are ignored, and no number may occur twice.
func rising(numbers []int) map[int]int {
	var ends []int // For each length, the index of the least number that ends a subsequence of that length.
	before := make([]int, len(numbers))
	for at, n := range numbers {
		if n < 0 {
			continue
		}
		length, _ := slices.BinarySearchFunc(ends, n, func(end, n int) int { return numbers[end] - n })
		before[at] = -1
		if length > 0 {
			before[at] = ends[length-1]
		}
		if length == len(ends) {
			ends = append(ends, at)
		}
		ends[length] = at
	}
	part := make(map[int]int, len(ends))
	if len(ends) == 0 {
		return part
	}
	for at := ends[len(ends)-1]; at >= 0; at = before[at] {
		part[numbers[at]] = at
	}
	return part
}
