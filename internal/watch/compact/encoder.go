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
	// sampleObjects is the number of objects from which a compression dictionary is built.
	sampleObjects = 16
	// trainingObjects is the number of objects in a list after which the dictionary is built. Until then, the objects
	// stay uncompressed.
	trainingObjects = 256
	// trainingBytes is the total size of the uncompressed objects at which the dictionary is built, even if there are
	// fewer than trainingObjects.
	trainingBytes = 8 << 20
)

// seed is the seed of text hashes. It is random, so an attacker cannot construct texts with the same hash.
var seed = maphash.MakeSeed() //nolint:gochecknoglobals // The hashes of all Encoders are compared.

// Encoder makes the Objects of one resource. It builds compression dictionaries from the first objects of each list.
// Only one list or watch at a time can use it.
type Encoder struct {
	codec        *codec
	managers     *codec    // Codec of managedFields.
	listBytes    int64     // Size of the list's objects in bytes, without those in the field training.
	training     []*Object // First objects of a list, uncompressed until there are enough for a dictionary; nil later.
	trainingSize int       // Size in bytes of the texts of the objects in the field training.
	samples      [][]byte  // The managedFields of some objects in the field training.
	packed       []byte    // Memory for the next compressed text.

	managed     *Managed
	managedText []byte
}

// Parts is the content of one new Object. The Encoder copies the slices.
type Parts struct {
	Metadata

	Text        []byte // Redacted JSON text, without the managedFields.
	Cells       []byte // Table cells as a JSON array.
	Verdict     verdict.Packed
	Managed     []byte    // The managedFields as JSON text.
	ManagedTime time.Time // Newest time in the managedFields.
}

// NewEncoder returns an Encoder. Until the first list, it compresses without dictionaries.
func NewEncoder() *Encoder { return &Encoder{codec: new(codec), managers: new(codec)} }

// BeginList prepares the Encoder for the first page of a list. The first objects of the list are collected for a
// dictionary.
func (e *Encoder) BeginList() {
	e.training, e.trainingSize, e.samples = make([]*Object, 0, trainingObjects), 0, nil
	e.listBytes = 0
}

// Collecting reports whether the newest Objects are still uncompressed. Callers must not share them yet, because the
// Encoder will change them.
func (e *Encoder) Collecting() bool { return e.training != nil }

// EndList ends a list, and compresses Objects that are still uncompressed.
func (e *Encoder) EndList() { e.train() }

// ListBytes returns the size of the list's Objects in bytes, without those that are still uncompressed.
func (e *Encoder) ListBytes() int64 { return e.listBytes }

// Encode makes an Object.
func (e *Encoder) Encode(parts *Parts) *Object {
	o := &Object{
		labels: unique.Make(string(parts.Labels)), created: secondsOf(parts.Created()),
		managedTime: secondsOf(parts.ManagedTime), textHash: maphash.Bytes(seed, parts.Text),
	}
	if !e.Collecting() {
		e.packed = e.codec.encode(e.packed, parts.Text)
		o.codec = e.codec
		pack(o, &parts.Metadata, parts.Cells, parts.Verdict, e.packed)
		e.listBytes += int64(o.Size())
		return o
	}
	pack(o, &parts.Metadata, parts.Cells, parts.Verdict, parts.Text)
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

// train builds the compression dictionaries, which are empty for fewer than 2*sampleObjects objects. Then it
// compresses the collected objects.
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

// EncodeManaged compresses managedFields, or returns the previous Managed if they are equal. It returns nil if there
// are none or they cannot be read.
func (e *Encoder) EncodeManaged(text []byte) *Managed {
	// The times in managedFields are whole seconds, so several writes in one second often have equal managedFields.
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
