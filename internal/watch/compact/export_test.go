package compact

import "runtime"

// Compressed returns an Object that has its own codec. After the garbage collector has freed this codec, the callback
// freed is called.
func Compressed(text string, freed func()) *Object {
	objectCodec := new(codec)
	runtime.AddCleanup(objectCodec, func(freed func()) { freed() }, freed)
	o := &Object{codec: objectCodec}
	m := Metadata{Namespace: "a", Name: "p", ResourceVersion: "1"}
	pack(o, &Parts{Metadata: m, Cells: []byte("[]")}, objectCodec.encode(nil, []byte(text)))
	return o
}
