package watch

import (
	"bytes"
	"strconv"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/rawjson"
)

// newsEvery is the shortest time between two window messages that report only changes of rows outside the window.
const newsEvery = time.Second

// news summarizes the changes of all rows that the namespaces and labels of a ranking (a sorted list) match, including
// rows outside the current page. It contains the number of changes, and the newest one that changes what a row shows. A
// window sends it, so that its viewer sees activity outside the window.
type news struct {
	changes uint64
	newest  *happening // Nil for none.
}

// happening is one change with its encoded text. All readers of a ranking share it.
type happening struct {
	change *change
	op     journal.Op // The change as these readers see it: an add if the row became visible, for example.
	text   once[[]byte]
}

// add counts a change. had means that the object was among the rows before the change; has means that it is after.
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

// appendSince appends the number of changes that told, the news sent last, does not include. It also appends the newest
// change if told has another one.
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

// tell encodes the change as a short JSON object. For an update, it includes the cells that changed, with their old and
// new values.
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
