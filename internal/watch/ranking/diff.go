package ranking

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/sortedlist"
)

// Diff is the difference between two pages for the same range of rows.
type Diff struct {
	IsFullPage bool // Too many rows differ, so the complete new page is sent.
	// Text contains the row counts and the events as JSON members. The sender adds members that differ for each
	// reader.
	Text []byte
}

// maxDiffInserts is the number of rows that a Diff can always insert. If more rows must be inserted, and these are more
// than half of the page, the complete page is sent instead.
const maxDiffInserts = 8

// newDiff encodes differences as events in the order of application: removed rows from last to first, inserted rows,
// updated rows.
//
//nolint:gocognit // Three plain loops, one after the other.
func newDiff(from, to *Page, r *Ranking, cache *event.Cache) (*Diff, error) {
	oldIndex, kept := keptRows(from.Rows, to.Rows)
	if insertCount := len(to.Rows) - len(kept); insertCount > max(maxDiffInserts, len(to.Rows)/2) {
		return &Diff{IsFullPage: true}, nil
	}
	changes := changesBetween(from, to, r.informer)
	text := append(to.Counts.Append(nil), `,"events":[`...)
	begin := func(op string, at int) {
		if text[len(text)-1] != '[' {
			text = append(text, ',')
		}
		text = append(append(text, `{"op":"`...), op...)
		text = strconv.AppendInt(append(text, `","at":`...), int64(at), 10)
	}
	inserted := insertedRows(to.Rows, oldIndex)
	var err error
	appendNewVersion := func(before, after *compact.Object) {
		if text, err = event.AppendChangedRow(after.AppendVersion(text), before, after, !r.filter.HidesExtra); err == nil {
			c := changes[after]
			if c != nil && c.Old.ResourceVersion() != before.ResourceVersion() {
				// The row has changed more than once since the old page, possibly by several authors. So omit the author.
				c = nil
			}
			text, err = appendChangeAuthor(text, c, cache)
		}
	}
	for at, row := range slices.Backward(from.Rows) {
		if _, ok := kept[at]; ok || err != nil {
			continue
		}
		begin("remove", at)
		reason, now := r.removalReason(row)
		if reason != "" {
			text = append(append(append(text, `,"why":"`...), reason...), '"')
		}
		if now != nil && reason != "" && !inserted[now] {
			appendNewVersion(row.Object, now)
		} else {
			text = append(text, '}')
		}
	}
	for at, row := range to.Rows {
		if oldIndex[at] < 0 && err == nil {
			begin("insert", at)
			text = row.Object.AppendRow(append(text, `,"row":`...), !r.filter.HidesExtra)
			text, err = appendChangeAuthor(text, changes[row.Object], cache)
		}
	}
	for at, row := range to.Rows {
		if oldIndex[at] < 0 || err != nil || sameRow(from.Rows[oldIndex[at]].Object, row.Object) {
			continue
		}
		begin("update", at)
		appendNewVersion(from.Rows[oldIndex[at]].Object, row.Object)
	}
	return &Diff{Text: append(text, ']')}, err
}

func insertedRows(rows []*Row, oldIndex []int) map[*compact.Object]bool {
	inserted := make(map[*compact.Object]bool)
	for at, row := range rows {
		if oldIndex[at] < 0 {
			inserted[row.Object] = true
		}
	}
	return inserted
}

func sameRow(a, b *compact.Object) bool {
	return a == b || a.ResourceVersion() == b.ResourceVersion() && bytes.Equal(a.Cells(), b.Cells()) &&
		bytes.Equal(compact.Extra(a), compact.Extra(b)) &&
		a.Verdict().Same(b.Verdict())
}

// changesBetween returns the updates that were made after the page "from" and up to the page "to". The key of an update
// is the new version of its object. Several updates of one object are merged. Updates that the history has dropped are
// missing.
func changesBetween(from, to *Page, i *informer.Informer) map[*compact.Object]*event.Change {
	number := int(min(to.newest-from.newest, maxChanges)) //nolint:gosec // At most maxChanges.
	changes := i.History(journal.At(to.newest), number)
	byObject := make(map[*compact.Object]*event.Change, len(changes))
	for _, c := range event.Fold(changes) {
		if c.Op == journal.Update {
			byObject[c.New] = c
		}
	}
	return byObject
}

// appendChangeAuthor appends the author of the change c, and ends the event. A nil c has no author.
func appendChangeAuthor(dst []byte, c *event.Change, cache *event.Cache) ([]byte, error) {
	if c == nil {
		return append(dst, '}'), nil
	}
	dst, err := event.AppendRowAuthor(dst, c, cache)
	return append(dst, '}'), err
}

// keptRows keeps as many rows as possible whose order is the same in both lists. Other rows are removed, and inserted
// again if necessary. oldIndex contains the old index of each new row, or -1 if the row is not kept. newIndex maps the
// old index of each kept row to its new index.
func keptRows(oldRows, newRows []*Row) (oldIndex []int, newIndex map[int]int) {
	oldIndexes := make(map[*Row]int, len(oldRows))
	for at, row := range oldRows {
		oldIndexes[row] = at
	}
	// oldIndex[n] is the index of newRows[n] in oldRows, or -1 if the row is new.
	oldIndex = make([]int, len(newRows))
	for at, row := range newRows {
		oldIndex[at] = -1
		if index, ok := oldIndexes[row]; ok {
			oldIndex[at] = index
			delete(oldIndexes, row)
		}
	}
	// oldIndexByKey contains the old rows that newRows lacks, or has in a new version.
	oldIndexByKey := make(map[string]int, len(oldIndexes))
	for row, at := range oldIndexes {
		oldIndexByKey[informer.Key(row.Object.Namespace(), row.Object.Name())] = at
	}
	for at, row := range newRows {
		if oldIndex[at] >= 0 || len(oldIndexByKey) == 0 {
			continue
		}
		if index, ok := oldIndexByKey[informer.Key(row.Object.Namespace(), row.Object.Name())]; ok &&
			oldRows[index].Object.SameUID(row.Object) {
			oldIndex[at] = index
		}
	}
	newIndex = make(map[int]int, len(newRows))
	for _, at := range sortedlist.LongestIncreasing(oldIndex) {
		newIndex[oldIndex[at]] = at
	}
	for at, index := range oldIndex {
		if to, ok := newIndex[index]; !ok || to != at {
			oldIndex[at] = -1
		}
	}
	return oldIndex, newIndex
}
