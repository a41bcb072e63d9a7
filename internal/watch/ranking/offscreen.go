package ranking

import (
	"bytes"
	"strconv"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// OffscreenEvery is the minimum time between two messages that contain an Offscreen summary, but no rows.
const OffscreenEvery = time.Second

// Offscreen summarizes the changes of all rows of a ranking, not only of those in the visible window. It also includes
// rows that do not contain the words of the query.
type Offscreen struct {
	Changes uint64
	newest  *lastChange
}

// lastChange is one change of a row, with its encoded text, which all readers of the sorted list share.
type lastChange struct {
	change *event.Change
	op     journal.Op
	text   event.Lazy[[]byte]
}

// add counts the change c. wasVisible and isVisible report whether the object matches the filter before and after c.
// They ignore the words in the filter.
func (o *Offscreen) add(c *event.Change, wasVisible, isVisible bool) {
	op := journal.Update
	switch {
	case !wasVisible && !isVisible:
		return
	case !wasVisible:
		op = journal.Add
	case !isVisible:
		op = journal.Delete
	}
	o.Changes++
	if op != journal.Update || !bytes.Equal(c.Old.Cells(), c.New.Cells()) {
		o.newest = &lastChange{change: c, op: op}
	}
}

// AppendUnsent appends the number of changes since sentSummary, and the newest change unless sentSummary contains it.
func (o *Offscreen) AppendUnsent(dst []byte, sentSummary *Offscreen, cache *event.Cache) ([]byte, error) {
	if o.Changes == sentSummary.Changes {
		return dst, nil
	}
	dst = strconv.AppendUint(append(dst, `,"changes":`...), o.Changes-sentSummary.Changes, 10)
	if o.newest == sentSummary.newest {
		return dst, nil
	}
	text, err := o.newest.text.Get(func() ([]byte, error) { return o.newest.encode(cache) })
	return append(append(dst, `,"newest":`...), text...), err
}

// encode encodes the change as a short JSON object. An update has old and new values of the changed cells.
func (l *lastChange) encode(cache *event.Cache) ([]byte, error) {
	c, o, op := l.change, l.change.New, "update"
	switch l.op {
	case journal.Add:
		op = "add"
	case journal.Delete:
		op, o = "delete", c.Old
	case journal.Update:
	}
	dst := append([]byte(`{"op":"`), op...)
	dst = jsonscan.AppendString(append(dst, `","ns":`...), o.Namespace())
	dst = jsonscan.AppendString(append(dst, `,"name":`...), o.Name())
	if l.op != journal.Update {
		return append(dst, '}'), nil
	}
	dst, err := event.AppendChangedCells(append(dst, `,"before":`...), c.New.Cells(), c.Old.Cells())
	if err != nil {
		return nil, err
	}
	if dst, err = event.AppendChangedCells(append(dst, `,"cells":`...), c.Old.Cells(), c.New.Cells()); err != nil {
		return nil, err
	}
	dst, err = event.AppendRowAuthor(dst, c, cache)
	return append(dst, '}'), err
}
