package listwatch

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// decoder converts API responses for one resource into Objects. Only one list or watch at a time can use it.
type decoder struct {
	resource       schema.GroupResource
	printerColumns printer.CRDColumns
	redactor       *redact.Redactor
	health         *health.Evaluator
	hasLastChange  bool // The resource has the extra column "Last change".

	columns atomic.Pointer[[]printer.Column] // Columns of the newest list; the pointer is nil before the first list.
	listing bool
	encoder *compact.Encoder
	scratch []byte         // Buffer for the redacted text of an object; reused.
	verdict verdict.Packed // Buffer for the verdict on an object; reused.
}

func newDecoder(groupResource schema.GroupResource, redactor *redact.Redactor, evaluator *health.Evaluator) *decoder {
	return &decoder{resource: groupResource, redactor: redactor, health: evaluator, encoder: compact.NewEncoder()}
}

// beginList prepares the decoder for the first page of a list.
func (d *decoder) beginList() {
	d.redactor.BeginList()
	d.encoder.BeginList()
	d.listing = true
}

// endList ends a list: the redactor forgets objects that were not listed, and the encoder compresses the last Objects.
func (d *decoder) endList() {
	d.redactor.EndList()
	d.encoder.EndList()
	d.listing = false
}

func toValidUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte(string(utf8.RuneError)))
}

// object makes an Object from the cells of a row and the JSON object at the cursor. managed is the JSON of the object's
// managedFields. It is a part of the cursor's data, not a copy.
func (d *decoder) object(cells []byte, c *jsonscan.Cursor) (o *compact.Object, managed []byte, err error) {
	redacted, err := d.redactor.Next(d.scratch[:0], c)
	if err != nil {
		return nil, nil, fmt.Errorf("decode an object: %w", err)
	}
	d.scratch = redacted.Text
	m, err := compact.ReadMetadata(redacted.Text)
	if err != nil {
		return nil, nil, fmt.Errorf("decode an object: %w", err)
	}
	managedTime := fieldmanager.Latest(redacted.Managed).Truncate(time.Second) // Objects store no fractions of a second.
	// Evaluate the redacted text, so that the sentence of the verdict cannot contain a masked value.
	v := d.health.Evaluate(redacted.Text, time.Now(), managedTime)
	d.verdict = verdict.Pack(d.verdict[:0], &v)
	o = d.encoder.Encode(&compact.Parts{
		Metadata: m, Text: redacted.Text, Cells: d.cells(cells, &redacted, &m), Verdict: d.verdict,
		Managed: redacted.Managed, ManagedTime: managedTime, Extra: d.extraCells(redacted.Managed),
	})
	return o, redacted.Managed, nil
}

// extraCells returns the cells of the extra columns as a JSON array, or nil if there are none. The cell "Last change"
// has the form "2026-11-21T10:00:00Z ago by kubectl-edit". Pages show the timestamp as elapsed time.
func (d *decoder) extraCells(managed []byte) []byte {
	if columns := d.currentColumns(); len(printer.Printed(columns)) == len(columns) {
		return nil
	}
	by := fieldmanager.NewestSpec(managed, fieldmanager.IsController)
	if by == nil {
		return nil
	}
	text := by.Time.UTC().Format(time.RFC3339) + " ago by " + by.Manager
	return append(jsonscan.AppendString([]byte{'['}, text), ']')
}

// cells converts the cells of a table row into the form that an Object stores: with timestamps instead of elapsed
// times, and with masks instead of sensitive values.
func (d *decoder) cells(raw []byte, object *redact.Redacted, m *compact.Metadata) []byte {
	now, columns, builtIn := time.Now(), printer.Printed(d.currentColumns()), resource.IsBuiltIn(d.resource.Group)
	if raw == nil {
		// Servers without Tables send no cells. Create the cells for the columns of printer.Plain: the name and the age.
		out := jsonscan.AppendString([]byte{'['}, m.Name)
		out = jsonscan.AppendString(append(out, ','), m.CreationTimestamp)
		return append(out, ']')
	}
	out := make([]byte, 0, len(raw)+32)
	out = append(out, '[')
	c := jsonscan.NewCursor(raw)
	_ = c.Array(func(i int) error {
		if i >= len(columns) && len(columns) > 0 {
			// Omit this cell: some rows, such as those of IPAddress, have more cells than columns.
			_, err := c.Value()
			return err
		}
		if i > 0 {
			out = append(out, ',')
		}
		if i >= len(columns) && len(object.Masked) > 0 || i < len(columns) && columns[i].MayShowMasked(object, builtIn) {
			out = append(out, printer.MaskedCell...)
			return c.Skip()
		}
		relative := i < len(columns) && columns[i].Relative && c.Peek() == '"'
		cell, err := c.Value()
		if err != nil || !relative && bytes.IndexByte(cell, '\\') < 0 {
			out = append(out, cell...)
			return err
		}
		if cell[0] != '"' {
			out = append(out, cell...)
			return nil
		}
		// Decode and encode the text again without the escapes of <, > and &. With these escapes, "<none>" takes 16 bytes.
		text, err := jsonscan.Unquote(cell)
		if relative {
			text = columns[i].Resolve(text, object.Text, m.Created(), now)
		}
		out = jsonscan.AppendString(out, text)
		return err
	})
	return append(out, ']')
}
