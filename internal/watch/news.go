package watch

import (
	"bytes"
	"strconv"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/rawjson"
)

// newsEvery is the shortest time between two messages that a window sends for offscreen changes alone.
const newsEvery = time.Second

// news are the changes of the rows that the namespaces and labels of a ranking match, on the page or not: their number,
// and the newest one that changes what a row shows. They show a viewer of a window the activity outside of it.
type news struct {
	changes uint64
	newest  *happening // Nil for none.
}

// happening is a change, with its text, which all readers of the ranking share.
type happening struct {
	change *change
	op     journal.Op // What the change is to these readers.
	text   once[[]byte]
}

// add counts a change. had and has report whether the object was among the rows before the change, and is after it.
func (n *news) add(c *change, had, has bool) {
	op := journal.Update
	switch {
	case !had && !has:
		return
	case !had:
		op = journal.Add
	case !has:
		op = journal.Delete
	}
	n.changes++
	if op != journal.Update || !bytes.Equal(c.Old.Cells(), c.New.Cells()) {
		n.newest = &happening{change: c, op: op}
	}
}

// appendSince appends the changes since those in told.
func (n *news) appendSince(dst []byte, told *news, recent *recent) ([]byte, error) {
	if n.changes == told.changes {
		return dst, nil
	}
	dst = strconv.AppendUint(append(dst, `,"changes":`...), n.changes-told.changes, 10)
	if n.newest == told.newest {
		return dst, nil
	}
	text, err := n.newest.text.get(func() ([]byte, error) { return n.newest.tell(recent) })
	return append(append(dst, `,"newest":`...), text...), err
}

// tell encodes the change in short. For an update, it includes the cells that changed, with their old and new values.
func (n *happening) tell(recent *recent) ([]byte, error) {
	c, o, op := n.change, n.change.New, "update"
	switch n.op {
	case journal.Add:
		op = "add"
	case journal.Delete:
		op, o = "delete", c.Old
	case journal.Update:
	}
	dst := append([]byte(`{"op":"`), op...)
	dst = rawjson.AppendString(append(dst, `","ns":`...), o.Namespace())
	dst = rawjson.AppendString(append(dst, `,"name":`...), o.Name())
	if n.op != journal.Update {
		return append(dst, '}'), nil
	}
	dst, err := appendChangedCells(append(dst, `,"before":`...), c.New.Cells(), c.Old.Cells())
	if err != nil {
		return nil, err
	}
	if dst, err = appendChangedCells(append(dst, `,"cells":`...), c.Old.Cells(), c.New.Cells()); err != nil {
		return nil, err
	}
	dst, err = appendRowAuthor(dst, c, recent)
	return append(dst, '}'), err
}
