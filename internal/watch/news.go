package watch

import (
	"bytes"
	"strconv"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/rawjson"
)

// newsEvery is how often a window tells at most what happens outside of it.
const newsEvery = time.Second

// news is what has happened to the rows that the namespaces and labels of a
// ranking let through, in it or not: how many changes there were, and the newest
// that a row shows. Who looks at a window knows by it what goes on elsewhere.
type news struct {
	changes uint64
	newest  *happening // Nil for none.
}

// happening is a change, with its text as all readers of the ranking share it.
type happening struct {
	change *change
	op     journal.Op // What it is to them.
	text   once[[]byte]
}

// add takes a change of an object that was, and is, among the rows, or not.
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

// appendSince appends what is new since other news were told.
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

// tell is the change in short: an update with the cells that changed, as they
// were and as they are.
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
