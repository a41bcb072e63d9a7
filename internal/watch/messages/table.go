package messages

import (
	"bytes"
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxPartRows is the maximum number of rows in one message of the view Table.
const maxPartRows = 2000

// columnar encodes rows column by column, which compresses better. UIDs are omitted, because they would be half of
// the text.
type columnar struct {
	ns, name, rv, created []byte
	verdicts              []byte
	onlySeverity          string // "none" or "ok" if all rows so far have this severity; otherwise empty.
	cells, extra          []cellColumn
	rows                  int
	size                  int
}

// cellColumn contains one column. If every cell equals the row's name, the column is sent as "name". If every cell
// equals the creation time, it is sent as "created".
type cellColumn struct {
	text       []byte
	notName    bool
	notCreated bool
}

func (t *columnar) add(o *compact.Object) error {
	name := jsonscan.AppendString(nil, o.Name())
	created := []byte(`""`)
	if at := o.Created(); !at.IsZero() {
		created = append(at.AppendFormat([]byte{'"'}, time.RFC3339), '"')
	}
	t.appendValue(&t.ns, jsonscan.AppendString(nil, o.Namespace()))
	t.appendValue(&t.name, name)
	t.appendValue(&t.rv, jsonscan.AppendString(nil, o.ResourceVersion()))
	t.appendValue(&t.created, created)
	v := o.Verdict().Unpack()
	shortVerdict := v.Severity.String()
	if v.Severity > verdict.OK || v.Reason != "" {
		shortVerdict = ""
		t.appendValue(&t.verdicts, v.Append(nil))
	} else {
		t.appendValue(&t.verdicts, jsonscan.AppendString(nil, shortVerdict))
	}
	if t.rows == 0 {
		t.onlySeverity = shortVerdict
	} else if t.onlySeverity != shortVerdict {
		t.onlySeverity = ""
	}
	if err := t.addCells(t.cells, o.Cells(), name, created); err != nil {
		return fmt.Errorf("read the cells of %s/%s: %w", o.Namespace(), o.Name(), err)
	}
	if len(t.extra) > 0 {
		extra := compact.Extra(o)
		if len(extra) == 0 {
			extra = []byte("[]")
		}
		if err := t.addCells(t.extra, extra, name, created); err != nil {
			return fmt.Errorf("read the extra cells of %s/%s: %w", o.Namespace(), o.Name(), err)
		}
	}
	t.rows++
	return nil
}

// appendValue appends a value of the present row to a column.
func (t *columnar) appendValue(to *[]byte, value []byte) {
	if t.rows > 0 {
		*to = append(*to, ',')
	}
	*to = append(*to, value...)
	t.size += len(value) + 1
}

// addCells appends the cells of a row, a JSON array, to the columns.
func (t *columnar) addCells(columns []cellColumn, cells, name, created []byte) error {
	at := 0
	c := jsonscan.NewCursor(cells)
	err := c.Array(func(i int) error {
		cell, err := c.Value()
		if err != nil || i >= len(columns) {
			return err
		}
		column := &columns[i]
		t.appendValue(&column.text, cell)
		column.notName = column.notName || !bytes.Equal(cell, name)
		column.notCreated = column.notCreated || !bytes.Equal(cell, created)
		at = i + 1
		return nil
	})
	for ; at < len(columns); at++ {
		t.appendValue(&columns[at].text, []byte("null"))
		columns[at].notName, columns[at].notCreated = true, true
	}
	return err
}

// appendTo appends the rows as JSON: {"ns":[..],"name":[..],"rv":[..],"created":[..],"verdict":[..],"cells":[..]}, and
// "extra":[..] with the cells of the extra columns, if there are any. A verdict is "none", "ok" or an object. If all
// verdicts are "none", or all are "ok", the array is replaced with that word.
func (t *columnar) appendTo(dst []byte) []byte {
	for n, member := range []struct {
		name string
		text []byte
	}{{"ns", t.ns}, {"name", t.name}, {"rv", t.rv}, {"created", t.created}} {
		dst = fmt.Appendf(dst, `%c"%s":[`, "{,"[min(n, 1)], member.name)
		dst = append(append(dst, member.text...), ']')
	}
	dst = append(dst, `,"verdict":`...)
	if t.onlySeverity != "" {
		dst = jsonscan.AppendString(dst, t.onlySeverity)
	} else {
		dst = append(append(append(dst, '['), t.verdicts...), ']')
	}
	dst = appendColumns(append(dst, `,"cells":[`...), t.cells)
	if len(t.extra) > 0 {
		dst = appendColumns(append(dst, `,"extra":[`...), t.extra)
	}
	return append(dst, '}')
}

func appendColumns(dst []byte, columns []cellColumn) []byte {
	for i := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch column := &columns[i]; {
		case !column.notName:
			dst = append(dst, `"name"`...)
		case !column.notCreated:
			dst = append(dst, `"created"`...)
		default:
			dst = append(append(append(dst, '['), column.text...), ']')
		}
	}
	return append(dst, ']')
}

// AppendTable is an AppendPart that appends rows column by column, as the member "table". It fails for malformed cells.
func AppendTable(
	message []byte, rows []*compact.Object, columns []printer.Column,
) (text []byte, n int, err error) {
	printed := len(printer.Printed(columns))
	table := columnar{cells: make([]cellColumn, printed), extra: make([]cellColumn, len(columns)-printed)}
	for table.rows < min(len(rows), maxPartRows) && table.size < PartBytes {
		if err := table.add(rows[table.rows]); err != nil {
			return nil, 0, err
		}
	}
	return table.appendTo(append(message, `,"table":`...)), table.rows, nil
}
