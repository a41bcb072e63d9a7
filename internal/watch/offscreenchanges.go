package watch

import (
	"bytes"
	"strconv"
	"time"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/jsonscan"
)

// offscreenEvery is the shortest time between two window messages that report only changes of rows outside the window.
const offscreenEvery = time.Second

// offscreenChanges summarizes the changes of all rows that the namespaces and labels of a ranking (a sorted list)
// match, including rows outside the current page. It contains the number of changes, and the newest one that changes
// what a row shows. A window sends it, so that its viewer sees activity outside the window.
type offscreenChanges struct {
	changes uint64
	newest  *lastChange // The newest change that changes what a row shows; nil for none.
}

// lastChange is one change with its encoded text. All readers of a ranking share it.
type lastChange struct {
	change *event.Change
	op     journal.Op // The change as these readers see it: an add if the row became visible, for example.
	text   event.Lazy[[]byte]
}

// add counts a change. wasVisible means that the object was among the rows before the change; isVisible means that it
// is after.
func (n *offscreenChanges) add(c *event.Change, wasVisible, isVisible bool) {
	op := journal.Update
	switch {
	case !wasVisible && !isVisible:
		return
	case !wasVisible:
		op = journal.Add
	case !isVisible:
		op = journal.Delete
	}
	n.changes++
	if op != journal.Update || !bytes.Equal(c.Old.Cells(), c.New.Cells()) {
		n.newest = &lastChange{change: c, op: op}
	}
}

// appendUnsent appends the number of changes that sent, the summary sent last, does not include. It also appends the
// newest change if sent has another one.
func (n *offscreenChanges) appendUnsent(dst []byte, sent *offscreenChanges, cache *event.Cache) ([]byte, error) {
	if n.changes == sent.changes {
		return dst, nil
	}
	dst = strconv.AppendUint(append(dst, `,"changes":`...), n.changes-sent.changes, 10)
	if n.newest == sent.newest {
		return dst, nil
	}
	text, err := n.newest.text.Get(func() ([]byte, error) { return n.newest.encode(cache) })
	return append(append(dst, `,"newest":`...), text...), err
}

// encode encodes the change as a short JSON object. For an update, it includes the cells that changed, with their old
// and new values.
func (n *lastChange) encode(cache *event.Cache) ([]byte, error) {
	c, o, op := n.change, n.change.New, "update"
	switch n.op {
	case journal.Add:
		op = "add"
	case journal.Delete:
		op, o = "delete", c.Old
	case journal.Update:
	}
	dst := append([]byte(`{"op":"`), op...)
	dst = jsonscan.AppendString(append(dst, `","ns":`...), o.Namespace())
	dst = jsonscan.AppendString(append(dst, `,"name":`...), o.Name())
	if n.op != journal.Update {
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
