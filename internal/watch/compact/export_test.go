package compact

import "runtime"

// Compressed returns an Object with its own codec. The function freed is called after the codec has been freed.
func Compressed(text string, freed func()) *Object {
	objectCodec := new(codec)
	runtime.AddCleanup(objectCodec, func(freed func()) { freed() }, freed)
	o := &Object{codec: objectCodec}
	m := &Metadata{Namespace: "a", Name: "p", ResourceVersion: "1"}
	pack(o, m, []byte("[]"), nil, objectCodec.encode(nil, []byte(text)))
	return o
}
