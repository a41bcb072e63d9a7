package watch

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"glasshouse/internal/watch/diff"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/rawjson"
)

// memo is what is made of a change once and shared by all readers.
type memo struct {
	row, object once
}

// once is a text that the first who asks for it makes.
type once struct {
	sync.Once

	text []byte
	err  error
}

func (o *once) get(encode func() ([]byte, error)) ([]byte, error) {
	o.Do(func() { o.text, o.err = encode() })
	return o.text, o.err
}

// rowEvent is a change as an event of the rows view.
func rowEvent(c *change) ([]byte, error) {
	return c.Memo.row.get(func() ([]byte, error) { return appendRowEvent(nil, c) })
}

// objectEvent is a change as an event of the object view.
func objectEvent(c *change) ([]byte, error) {
	return c.Memo.object.get(func() ([]byte, error) { return appendObjectEvent(nil, c) })
}

func appendRowEvent(dst []byte, c *change) ([]byte, error) {
	switch c.Op {
	case journal.Add:
		dst = append(dst, `{"op":"add","row":`...)
		return append(c.New.AppendRow(dst), '}'), nil
	case journal.Delete:
		dst = append(dst, `{"op":"delete","ns":`...)
		dst = rawjson.AppendString(dst, c.Old.Namespace())
		dst = append(dst, `,"name":`...)
		dst = rawjson.AppendString(dst, c.Old.Name())
		dst = append(dst, `,"uid":`...)
		return append(rawjson.AppendString(dst, c.Old.UID()), '}'), nil
	case journal.Update:
	}
	dst = append(dst, `{"op":"update","ns":`...)
	dst = rawjson.AppendString(dst, c.New.Namespace())
	dst = append(dst, `,"name":`...)
	dst = rawjson.AppendString(dst, c.New.Name())
	dst = c.New.AppendVersion(dst)
	dst = append(dst, `,"cells":`...)
	dst, err := appendChangedCells(dst, c.Old.Cells(), c.New.Cells())
	if err != nil {
		return nil, err
	}
	return append(appendAuthor(dst, c), '}'), nil
}

func appendObjectEvent(dst []byte, c *change) ([]byte, error) {
	switch c.Op {
	case journal.Add:
		text, err := c.New.JSON()
		if err != nil {
			return nil, err
		}
		dst = append(dst, `{"op":"add","object":`...)
		return append(append(dst, text...), '}'), nil
	case journal.Delete:
		dst = append(dst, `{"op":"delete","uid":`...)
		return append(rawjson.AppendString(dst, c.Old.UID()), '}'), nil
	case journal.Update:
	}
	before, err := c.Old.JSON()
	if err != nil {
		return nil, err
	}
	after, err := c.New.JSON()
	if err != nil {
		return nil, err
	}
	patch, err := diff.Patch(before, after)
	if err != nil {
		return nil, fmt.Errorf("compare two versions of %s: %w", c.Key, err)
	}
	dst = append(dst, `{"op":"update"`...)
	dst = c.New.AppendVersion(dst)
	dst = append(dst, `,"patch":`...)
	dst = append(dst, patch...)
	return append(appendAuthor(dst, c), '}'), nil
}

// authorAge is how old the newest entry of managedFields may be where the change
// left them as they were: their times are in seconds, and a manager that writes
// the same fields twice within one leaves no other trace.
const authorAge = 2 * time.Second

// appendAuthor names who made the change, where the object tells.
func appendAuthor(dst []byte, c *change) []byte {
	author := c.New.Author()
	if author == nil || c.New.SameManagers(c.Old) && c.Time.Sub(author.Time) > authorAge {
		return dst
	}
	by, err := json.Marshal(author)
	if err != nil {
		return dst // A year beyond 9999: it names nobody.
	}
	return append(append(dst, `,"by":`...), by...)
}

// appendChangedCells appends the cells of after that differ, by column index.
func appendChangedCells(dst, before, after []byte) ([]byte, error) {
	old := make([]string, 0, 16)
	c := rawjson.NewCursor(before)
	err := c.Array(func(int) error {
		cell, err := c.Value()
		old = append(old, string(cell))
		return err
	})
	if err != nil {
		return nil, err
	}
	start := len(dst)
	dst = append(dst, '{')
	c = rawjson.NewCursor(after)
	err = c.Array(func(i int) error {
		cell, err := c.Value()
		if err != nil || i < len(old) && old[i] == string(cell) {
			return err
		}
		if len(dst) > start+1 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = append(dst, `":`...)
		dst = append(dst, cell...)
		return nil
	})
	return append(dst, '}'), err
}
