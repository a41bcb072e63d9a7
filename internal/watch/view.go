package watch

import (
	"cmp"
	"context"
	"slices"

	"glasshouse/internal/watch/journal"
)

// View is what a Subscription tells of objects.
type View string

// The views of the wire.
const (
	Rows    View = "rows"    // Cells; an update has those that changed.
	Table   View = "table"   // The same in fewer bytes: a snapshot comes column by column, without UIDs.
	Object  View = "object"  // The text of one object; an update is a patch.
	Changes View = "changes" // What happened, one by one: patches and who made them.
	// Windowed is a part of the rows in an order that the server keeps.
	Windowed View = "window"
)

// view is how a View is told.
type view struct {
	// begin tells what there is, or the first part of it; nil where that is not
	// known yet.
	begin func(*reading, context.Context) ([]byte, error)
	// next tells the next part of rows that are being told.
	next func(*reading) ([]byte, error)
	// event is a change as an event of this view; nil where it is nothing to it.
	event func(*change, *recent) ([]byte, error)
	name  View
	// bundled says that an event is the same to all readers of a filter.
	bundled bool
	// each says that every change is told; otherwise those of one object that
	// piled up are told as one.
	each bool
	// texts says that objects' texts are told, or patches of them.
	texts bool
	// digests says that the reader is told digests of what it holds.
	digests bool
}

func viewOf(name View) (v view, ok bool) {
	switch name {
	case Rows:
		return view{name: name, bundled: true, begin: (*reading).beginRows, next: (*reading).nextRows, event: rowEvent, digests: true}, true
	case Table:
		return view{name: name, bundled: true, begin: (*reading).beginRows, next: (*reading).nextTable, event: tableEvent, digests: true}, true
	case Object:
		return view{name: name, begin: (*reading).beginObject, event: objectEvent, texts: true}, true
	case Changes:
		return view{name: name, begin: (*reading).beginChanges, event: changeEvent, each: true, texts: true}, true
	case Windowed:
		return view{name: name, begin: (*reading).beginWindow, digests: true}, true
	}
	return view{}, false
}

// fold merges the changes of each object; some offsets may be missing. What is merged
// has the managedFields of its newest change; an update also knows which it stands for.
func fold(changes []*change) []*change {
	folded := journal.Fold(changes, sameThing)
	var merged map[string]*run
	for _, c := range folded {
		at, _ := slices.BinarySearchFunc(changes, c.Offset, func(c *change, offset uint64) int { return cmp.Compare(c.Offset, offset) })
		newest := changes[at]
		if c == newest {
			continue
		}
		c.Memo.managed = newest.Memo.managed
		if c.Op == journal.Update {
			if merged == nil {
				merged = make(map[string]*run)
			}
			c.Memo.run = new(run)
			merged[c.Key] = c.Memo.run
		}
	}
	if merged == nil {
		return folded
	}
	for _, c := range changes {
		if of := merged[c.Key]; of != nil && len(*of) <= maxRun {
			*of = append(*of, c)
		}
	}
	return folded
}
