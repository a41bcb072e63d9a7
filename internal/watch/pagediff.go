package watch

import (
	"bytes"
	"slices"
	"strconv"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
)

// pageDiff is the difference between a page (the rows that a window shows) and a later page of the same range.
type pageDiff struct {
	isFullPage bool // Too much has changed; the new page is sent completely.
	// The encoded events, unless isFullPage is set. Members that depend on the reader are added before them.
	text []byte
}

// maxDiffInserts is the number of inserted rows up to which only the differences of a page are sent. For pages with
// more than twice as many rows, the limit is half of the rows.
const maxDiffInserts = 8

// newPageDiff encodes the differences between two pages as events: the removed rows from the last to the first, then
// the inserted rows from the first to the last, then the updated rows. Each index is therefore valid when a client
// applies the events in order.
//
//nolint:gocognit // Three plain loops, one after the other.
func newPageDiff(from, to *rowPage, r *ranking, cache *event.Cache) (*pageDiff, error) {
	oldIndex, kept := keptRows(from.rows, to.rows)
	if insertCount := len(to.rows) - len(kept); insertCount > max(maxDiffInserts, len(to.rows)/2) {
		return &pageDiff{isFullPage: true}, nil
	}
	changes := changesBetween(from, to, r.informer)
	text := append(to.counts.append(nil), `,"events":[`...)
	begin := func(op string, at int) {
		if text[len(text)-1] != '[' {
			text = append(text, ',')
		}
		text = append(append(text, `{"op":"`...), op...)
		text = strconv.AppendInt(append(text, `","at":`...), int64(at), 10)
	}
	inserted := insertedRows(to.rows, oldIndex)
	var err error
	// appendNewVersion appends the members for the new version of a row, which end the event.
	appendNewVersion := func(before, after *listwatch.Object) {
		text = append(after.AppendVersion(text), `,"cells":`...)
		if text, err = event.AppendChangedCells(text, before.Cells(), after.Cells()); err == nil {
			c := changes[after]
			if c != nil && c.Old.ResourceVersion() != before.ResourceVersion() {
				// The changes that were read do not include all changes of the object, so the author is omitted.
				c = nil
			}
			text, err = appendChangeAuthor(text, c, cache)
		}
	}
	for at, row := range slices.Backward(from.rows) {
		if _, ok := kept[at]; ok || err != nil {
			continue
		}
		begin("remove", at)
		reason, now := r.removalReason(row)
		if reason != "" {
			text = append(append(append(text, `,"why":"`...), reason...), '"')
		}
		if now != nil && reason != "" && !inserted[now] {
			appendNewVersion(row.object, now)
		} else {
			text = append(text, '}')
		}
	}
	for at, row := range to.rows {
		if oldIndex[at] < 0 && err == nil {
			begin("insert", at)
			text = row.object.AppendRow(append(text, `,"row":`...))
			text, err = appendChangeAuthor(text, changes[row.object], cache)
		}
	}
	for at, row := range to.rows {
		if oldIndex[at] < 0 || err != nil || sameRow(from.rows[oldIndex[at]].object, row.object) {
			continue
		}
		begin("update", at)
		appendNewVersion(from.rows[oldIndex[at]].object, row.object)
	}
	return &pageDiff{text: append(text, ']')}, err
}

// insertedRows returns the set of objects whose rows were not on the page before.
func insertedRows(rows []*rankRow, oldIndex []int) map[*listwatch.Object]bool {
	inserted := make(map[*listwatch.Object]bool)
	for at, row := range rows {
		if oldIndex[at] < 0 {
			inserted[row.object] = true
		}
	}
	return inserted
}

// sameRow reports whether two versions of an object show a reader the same row.
func sameRow(a, b *listwatch.Object) bool {
	return a == b || a.ResourceVersion() == b.ResourceVersion() && bytes.Equal(a.Cells(), b.Cells())
}

// changesBetween returns the changes between two pages. The key is the object as it is after the change. Changes of one
// object are folded into one. Changes that have left the history are missing.
func changesBetween(from, to *rowPage, i *informer) map[*listwatch.Object]*event.Change {
	changes := i.History(journal.At(to.newest), int(min(to.newest-from.newest, batch))) //nolint:gosec // At most a batch.
	byObject := make(map[*listwatch.Object]*event.Change, len(changes))
	for _, c := range fold(changes) {
		if c.Op == journal.Update {
			byObject[c.New] = c
		}
	}
	return byObject
}

// appendChangeAuthor appends the author of the change, if it is known, and ends the event.
func appendChangeAuthor(dst []byte, c *event.Change, cache *event.Cache) ([]byte, error) {
	if c == nil {
		return append(dst, '}'), nil
	}
	dst, err := event.AppendRowAuthor(dst, c, cache)
	return append(dst, '}'), err
}

// keptRows compares the rows of two pages. oldIndex contains, for each row of after, its index in before, or -1 for an
// inserted row. kept contains the rows of before that stay, with their new index. They keep their order, and as many
// as possible stay. All other rows are removed, and inserted elsewhere.
func keptRows(before, after []*rankRow) (oldIndex []int, kept map[int]int) {
	oldIndexes := make(map[*rankRow]int, len(before))
	for at, row := range before {
		oldIndexes[row] = at
	}
	oldIndex = make([]int, len(after))
	for at, row := range after {
		oldIndex[at] = -1
		if index, ok := oldIndexes[row]; ok {
			oldIndex[at] = index
			delete(oldIndexes, row)
		}
	}
	oldIndexByKey := make(map[string]int, len(oldIndexes)) // Rows that were changed or removed.
	for row, at := range oldIndexes {
		oldIndexByKey[keyOf(row.object.Namespace(), row.object.Name())] = at
	}
	for at, row := range after {
		if oldIndex[at] >= 0 || len(oldIndexByKey) == 0 {
			continue
		}
		if index, ok := oldIndexByKey[keyOf(row.object.Namespace(), row.object.Name())]; ok &&
			sameUID(before[index].object, row.object) {
			oldIndex[at] = index
		}
	}
	kept = longestIncreasing(oldIndex)
	for at, index := range oldIndex {
		if to, ok := kept[index]; !ok || to != at {
			oldIndex[at] = -1
		}
	}
	return oldIndex, kept
}

// longestIncreasing returns the longest subsequence of numbers that increases: the numbers with their indexes. Negative
// numbers are ignored, and no number may occur twice.
func longestIncreasing(numbers []int) map[int]int {
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
