package listwatch

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"sync/atomic"
	"time"
	"unicode/utf8"
	"unique"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// seed is the seed of text hashes. It is random, so an attacker cannot construct texts with the same hash.
var seed = maphash.MakeSeed() //nolint:gochecknoglobals // The hashes of all decoders are compared.

// decoder converts API responses for one resource into Objects. Only one list or watch at a time can use it.
type decoder struct {
	resource       schema.GroupResource
	printerColumns printer.CRDColumns
	redactor       *redact.Redactor
	health         *health.Evaluator

	columns      atomic.Pointer[[]printer.Column] // Columns of the newest list; the pointer is nil before the first list.
	codec        *codec
	managers     *codec
	listing      bool
	listBytes    int64     // Size of the list's objects in bytes, without those in the field training.
	training     []*Object // First objects of a list, uncompressed until there are enough for a dictionary; nil later.
	trainingSize int       // Size in bytes of the texts of the objects in the field training.
	samples      [][]byte  // The managedFields of some objects in the field training.
	scratch      []byte
	packed       []byte
	verdict      verdict.Packed

	managed     *Managed
	managedText []byte
}

func newDecoder(groupResource schema.GroupResource, redactor *redact.Redactor, evaluator *health.Evaluator) *decoder {
	return &decoder{
		resource: groupResource, redactor: redactor, health: evaluator, codec: new(codec), managers: new(codec),
	}
}

// beginList prepares the decoder for the first page of a list, whose first objects are collected for a dictionary.
func (d *decoder) beginList() {
	d.redactor.BeginList()
	d.training, d.trainingSize, d.samples = make([]*Object, 0, trainingObjects), 0, nil
	d.listing, d.listBytes = true, 0
}

// collecting reports whether the decoded objects are still uncompressed. Callers must not send them yet, because
// train will change them.
func (d *decoder) collecting() bool { return d.training != nil }

// endList ends a list, and compresses objects that are still uncompressed.
func (d *decoder) endList() {
	d.redactor.EndList()
	d.train()
	d.listing = false
}

type members struct {
	namespace, name, uid, resourceVersion, created string
	labels                                         []byte
}

func readMembers(object []byte) (m members, err error) {
	c := jsonscan.NewCursor(object)
	err = c.Object(func(key []byte) error {
		if string(key) != "metadata" {
			return nil
		}
		err := c.Object(func(key []byte) (err error) {
			switch string(key) {
			case "namespace":
				m.namespace, err = c.Text()
			case "name":
				m.name, err = c.Text()
			case "uid":
				m.uid, err = c.Text()
			case "resourceVersion":
				m.resourceVersion, err = c.Text()
			case "creationTimestamp":
				m.created, err = c.Text()
			case "labels":
				m.labels, err = c.Value()
			}
			return err
		})
		if err != nil {
			return err
		}
		return jsonscan.ErrStop
	})
	if errors.Is(err, jsonscan.ErrStop) {
		err = nil
	}
	if err == nil && m.name == "" {
		err = errors.New("the object has no name")
	}
	return m, err
}

// LabelsOf returns the labels in an object's JSON text, as a slice of the text, or an empty text.
func LabelsOf(object []byte) []byte {
	m, _ := readMembers(object) // Text that is not a JSON object has no labels.
	return m.labels
}

func toValidUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte(string(utf8.RuneError)))
}

// object makes an Object from a row's cells and the JSON object at the cursor. managed is a part of the cursor's
// data, not a copy.
func (d *decoder) object(cells []byte, c *jsonscan.Cursor) (o *Object, managed []byte, err error) {
	redacted, err := d.redactor.Next(d.scratch[:0], c)
	if err != nil {
		return nil, nil, fmt.Errorf("decode an object: %w", err)
	}
	clean, managed := redacted.Text, redacted.Managed
	d.scratch = clean
	m, err := readMembers(clean)
	if err != nil {
		return nil, nil, fmt.Errorf("decode an object: %w", err)
	}
	o = &Object{
		labels: unique.Make(string(m.labels)), managedTime: fieldmanager.Latest(managed).Unix(),
		textHash: maphash.Bytes(seed, clean),
	}
	if at, err := time.Parse(time.RFC3339, m.created); err == nil {
		o.created = at.Unix()
	}
	body := clean
	if d.training == nil {
		d.packed = d.codec.encode(d.packed, clean)
		body, o.codec = d.packed, d.codec
	}
	// Evaluate the redacted text, so that a sentence cannot contain a masked value.
	v := d.health.Evaluate(clean, time.Now(), o.ManagedTime())
	d.verdict = verdict.Pack(d.verdict[:0], &v)
	o.pack(m.namespace, m.name, m.uid, m.resourceVersion, d.cells(cells, &redacted, &m, o.Created()), d.verdict, body)
	if d.training == nil {
		d.listBytes += int64(o.Size())
	}
	if d.training != nil {
		if len(d.training)%(trainingObjects/sampleObjects) == 0 {
			d.samples = append(d.samples, bytes.Clone(managed))
		}
		d.trainingSize += len(clean)
		if d.training = append(d.training, o); len(d.training) == trainingObjects || d.trainingSize >= trainingBytes {
			d.train()
		}
	}
	return o, managed, nil
}

// cells converts a table row's cells into the form that an Object stores, with timestamps and masks.
func (d *decoder) cells(raw []byte, object *redact.Redacted, m *members, created time.Time) []byte {
	now, columns, builtIn := time.Now(), d.currentColumns(), printer.IsBuiltIn(d.resource.Group)
	if raw == nil {
		// A row without cells gets cells for the columns of printer.Plain: the name and the age.
		out := jsonscan.AppendString([]byte{'['}, m.name)
		out = jsonscan.AppendString(append(out, ','), m.created)
		return append(out, ']')
	}
	out := make([]byte, 0, len(raw)+32)
	out = append(out, '[')
	c := jsonscan.NewCursor(raw)
	_ = c.Array(func(i int) error {
		if i >= len(columns) && len(columns) > 0 {
			// Some rows, as of IPAddress, have more cells than columns.
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
		// Unquote also removes the escapes of <, > and &, with which "<none>" takes 16 bytes.
		text, err := jsonscan.Unquote(cell)
		if relative {
			text = columns[i].Resolve(text, object.Text, created, now)
		}
		out = jsonscan.AppendString(out, text)
		return err
	})
	return append(out, ']')
}

// train builds the compression dictionaries, which are empty for fewer than 2*sampleObjects objects. Then it
// compresses the collected objects.
func (d *decoder) train() {
	objects, managers := d.training, d.samples
	d.training, d.samples = nil, nil
	if len(objects) == 0 {
		return // The dictionaries already exist, or the list is empty.
	}
	d.codec, d.managers = new(codec), new(codec)
	if len(objects) >= 2*sampleObjects {
		samples := make([][]byte, sampleObjects)
		for i := range samples {
			o := objects[i*len(objects)/sampleObjects]
			samples[i] = o.body()
		}
		d.codec, d.managers = newCodec(samples), newCodec(managers)
	}
	for _, o := range objects {
		d.packed = d.codec.encode(d.packed, o.body())
		o.repack(d.codec, d.packed)
		d.listBytes += int64(o.Size())
	}
}
