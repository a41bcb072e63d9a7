package compact

import (
	"bytes"
	"hash/maphash"
	"slices"
	"time"
	"unique"

	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// sampleObjects is the number of objects whose texts form a compression dictionary.
	sampleObjects = 16
	// trainingObjects is the number of objects of a list after which the dictionary is built. The objects are not
	// compressed until then.
	trainingObjects = 256
	// trainingBytes is the total text size after which the dictionary is built, even if the list has had fewer than
	// trainingObjects objects so far.
	trainingBytes = 8 << 20
)

// seed is the seed of the hashes of object texts. It is random, so that an attacker cannot construct different texts
// with the same hash.
var seed = maphash.MakeSeed() //nolint:gochecknoglobals // The hashes of all Encoders are compared.

// Encoder makes the Objects of one resource. It builds new compression dictionaries from the first objects of each
// list. A list and a watch must not use an Encoder at the same time.
type Encoder struct {
	codec        *codec
	managers     *codec    // Codec of managedFields.
	listBytes    int64     // Size in bytes of the objects of a list that are compressed already.
	training     []*Object // First objects of a list, uncompressed; nil after the dictionary was built.
	trainingSize int       // Total text size of the objects in the field training, in bytes.
	samples      [][]byte  // The managedFields of some objects in the field training.
	packed       []byte    // Buffer that is reused for compressed texts.

	managed     *Managed
	managedText []byte
}

// Parts is the content of a new Object. The Encoder copies the slices, so the caller can reuse them.
type Parts struct {
	Metadata

	Text        []byte // Redacted JSON text, without the managedFields.
	Cells       []byte // Table cells as a JSON array.
	Verdict     verdict.Packed
	Managed     []byte    // The managedFields as JSON text.
	ManagedTime time.Time // Newest time in the managedFields.
	Extra       []byte    // The cells of the extra columns as a JSON array; empty if there are none.
}

// NewEncoder returns an Encoder. Until the first list, it compresses without dictionaries.
func NewEncoder() *Encoder { return &Encoder{codec: new(codec), managers: new(codec)} }

// BeginList prepares the Encoder for the first page of a list. The Encoder collects the first objects of the list, to
// build a dictionary from them.
func (e *Encoder) BeginList() {
	e.training, e.trainingSize, e.samples = make([]*Object, 0, trainingObjects), 0, nil
	e.listBytes = 0
}

// Collecting reports whether the Objects that Encode returns are still uncompressed. The Encoder will compress them in
// place, so callers must not share them yet.
func (e *Encoder) Collecting() bool { return e.training != nil }

// EndList ends a list. It compresses the Objects of the list that are still uncompressed.
func (e *Encoder) EndList() { e.train() }

// ListBytes returns the size of the list's Objects in bytes, without those that are still uncompressed.
func (e *Encoder) ListBytes() int64 { return e.listBytes }

// Encode returns a new Object with the given content.
func (e *Encoder) Encode(parts *Parts) *Object {
	o := &Object{
		labels: unique.Make(string(parts.Labels)), created: secondsOf(parts.Created()),
		managedTime: secondsOf(parts.ManagedTime), textHash: maphash.Bytes(seed, parts.Text),
	}
	if !e.Collecting() {
		e.packed = e.codec.encode(e.packed, parts.Text)
		o.codec = e.codec
		pack(o, parts, e.packed)
		e.listBytes += int64(o.Size())
		return o
	}
	pack(o, parts, parts.Text)
	if len(e.training)%(trainingObjects/sampleObjects) == 0 {
		e.samples = append(e.samples, bytes.Clone(parts.Managed))
	}
	e.trainingSize += len(parts.Text)
	e.training = append(e.training, o)
	if len(e.training) == trainingObjects || e.trainingSize >= trainingBytes {
		e.train()
	}
	return o
}

// train builds the compression dictionaries from the collected objects, and then compresses these objects. With fewer
// than 2*sampleObjects objects, it compresses them without dictionaries.
func (e *Encoder) train() {
	objects, managers := e.training, e.samples
	e.training, e.samples = nil, nil
	if len(objects) == 0 {
		return // The dictionaries already exist, or the list is empty.
	}
	e.codec, e.managers = new(codec), new(codec)
	if len(objects) >= 2*sampleObjects {
		samples := make([][]byte, sampleObjects)
		for i := range samples {
			samples[i] = bodyOf(objects[i*len(objects)/sampleObjects])
		}
		e.codec, e.managers = newCodec(samples), newCodec(managers)
	}
	for _, o := range objects {
		e.packed = e.codec.encode(e.packed, bodyOf(o))
		o.data = slices.Concat(o.data[:o.verdictEnd], e.packed)
		o.codec = e.codec
		e.listBytes += int64(o.Size())
	}
}

// EncodeManaged compresses managedFields. If text equals that of the previous call, it returns the previous Managed. It
// returns nil if there are no managedFields, or if they cannot be read.
func (e *Encoder) EncodeManaged(text []byte) *Managed {
	// Equal managedFields are frequent: their times have no fractions of seconds, so several writes within a second
	// often do not change them.
	if e.managed != nil && bytes.Equal(text, e.managedText) {
		return e.managed
	}
	newest, unambiguous := fieldmanager.Newest(text)
	if newest == nil {
		return nil
	}
	e.packed = e.managers.encode(e.packed, text)
	e.managed = &Managed{newest: *newest, unambiguous: unambiguous, packed: bytes.Clone(e.packed), codec: e.managers}
	e.managedText = append(e.managedText[:0], text...)
	return e.managed
}
