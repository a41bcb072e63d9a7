package event

import (
	"bytes"
	"strconv"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Row encodes a change as a JSON event for subscriptions to the view "rows", with or without the extra cells. Readers
// share the encoded text, unless they do not get extra cells that the object has.
func Row(c *Change, cache *Cache, withExtra bool) ([]byte, error) {
	return encodeRow(c, cache, &c.Memo.rowText, &rowFormat{(*compact.Object).AppendVersion, appendNamedAuthor, withExtra})
}

// Table encodes a change like Row, for the view "table". An update contains only the data that the client does not have
// yet.
func Table(c *Change, cache *Cache, withExtra bool) ([]byte, error) {
	if c.Op != journal.Update {
		return Row(c, cache, withExtra)
	}
	return encodeRow(c, cache, &c.Memo.tableText, &rowFormat{appendResourceVersion, appendAuthor, withExtra})
}

func encodeRow(c *Change, cache *Cache, shared *Lazy[[]byte], format *rowFormat) ([]byte, error) {
	hasExtra := func(o *compact.Object) bool { return o != nil && len(compact.Extra(o)) > 0 }
	if !format.withExtra && (hasExtra(c.Old) || hasExtra(c.New)) {
		return newRowEvent(c, cache, format)
	}
	return shared.Get(func() ([]byte, error) { return newRowEvent(c, cache, format) })
}

// rowFormat has the functions that append the members of an update.
type rowFormat struct {
	appendVersion func(*compact.Object, []byte) []byte
	appendBy      func([]byte, *fieldmanager.Author) []byte
	withExtra     bool
}

func newRowEvent(c *Change, cache *Cache, format *rowFormat) ([]byte, error) {
	var dst []byte
	switch c.Op {
	case journal.Add:
		dst = c.New.AppendRow([]byte(`{"op":"add","row":`), format.withExtra)
	case journal.Delete:
		dst = jsonscan.AppendString([]byte(`{"op":"delete","ns":`), c.Old.Namespace())
		dst = jsonscan.AppendString(append(dst, `,"name":`...), c.Old.Name())
		dst = jsonscan.AppendString(append(dst, `,"uid":`...), c.Old.UID())
	default:
		dst = jsonscan.AppendString([]byte(`{"op":"update","ns":`), c.New.Namespace())
		dst = jsonscan.AppendString(append(dst, `,"name":`...), c.New.Name())
		dst = format.appendVersion(c.New, dst)
		var err error
		if dst, err = AppendChangedRow(dst, c.Old, c.New, format.withExtra); err != nil {
			return nil, err
		}
		by, err := rowAuthor(c, cache)
		if err != nil {
			return nil, err
		}
		if by != nil {
			dst = format.appendBy(dst, by)
		}
	}
	return bytes.Clone(append(dst, '}')), nil // Clone drops spare capacity, which the memory limit does not count.
}

// AppendChangedRow appends what has changed in the row of an object: the JSON member "cells", and the members "extra"
// (only with withExtra) and "verdict" if they have changed.
func AppendChangedRow(dst []byte, before, after *compact.Object, withExtra bool) ([]byte, error) {
	dst, err := AppendChangedCells(append(dst, `,"cells":`...), before.Cells(), after.Cells())
	if err != nil {
		return nil, err
	}
	if extra := compact.Extra(after); withExtra && !bytes.Equal(compact.Extra(before), extra) {
		dst = append(dst, `,"extra":`...)
		if len(extra) == 0 {
			extra = []byte("[]")
		}
		dst = append(dst, extra...)
	}
	return appendChangedVerdict(dst, before, after), nil
}

// appendChangedVerdict appends the new verdict of an updated object as the JSON member "verdict". It appends nothing if
// the verdict is the same.
func appendChangedVerdict(dst []byte, before, after *compact.Object) []byte {
	if before.Verdict().Same(after.Verdict()) {
		return dst
	}
	v := after.Verdict().Unpack()
	return v.Append(append(dst, `,"verdict":`...))
}

func appendNamedAuthor(dst []byte, by *fieldmanager.Author) []byte {
	return AppendMember(dst, "by", by)
}

func appendAuthor(dst []byte, by *fieldmanager.Author) []byte {
	timeText := ""
	if !by.Time.IsZero() {
		timeText = by.Time.Format(time.RFC3339)
	}
	dst = append(dst, `,"by":[`...)
	for n, text := range []string{by.Manager, by.Operation, by.Subresource, timeText} {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, text)
	}
	return append(dst, ']')
}

func appendResourceVersion(o *compact.Object, dst []byte) []byte {
	return jsonscan.AppendString(append(dst, `,"rv":`...), o.ResourceVersion())
}

// Object encodes a change as a JSON event for the view of a single object. The text is not shared, because few readers
// read the same object.
func Object(c *Change, cache *Cache) ([]byte, error) {
	if c.Op == journal.Delete {
		return append(jsonscan.AppendString([]byte(`{"op":"delete","uid":`), c.Old.UID()), '}'), nil
	}
	health, err := healthOf(c, cache)
	if err != nil {
		return nil, err
	}
	var event []byte
	if c.Op == journal.Add {
		text, err := c.New.JSON()
		if err != nil {
			return nil, err
		}
		event = c.New.Verdict().AppendMember(append([]byte(`{"op":"add","object":`), text...))
	} else {
		d, err := DeltaOf(c, cache)
		if err != nil {
			return nil, err
		}
		event = append(c.New.AppendVersion([]byte(`{"op":"update"`)), d.Text...)
		event = appendChangedVerdict(event, c.Old, c.New)
	}
	return append(append(event, health.text...), '}'), nil
}

// AppendChangedCells compares two JSON arrays of table cells. It appends a JSON object with the new values of the
// changed cells, by column index.
func AppendChangedCells(dst, oldCells, newCells []byte) ([]byte, error) {
	old := make([]string, 0, 16)
	c := jsonscan.NewCursor(oldCells)
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
	c = jsonscan.NewCursor(newCells)
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
