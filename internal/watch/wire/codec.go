package wire

import (
	"slices"

	"github.com/klauspost/compress/s2"
)

const (
	// sampleObjects is how many objects of a list a dictionary is made from,
	// taken evenly from the first trainingObjects, or trainingBytes of them, as far
	// as there is room in it. Until the dictionary is made they are held as they
	// are.
	sampleObjects   = 16
	trainingObjects = 256
	trainingBytes   = 8 << 20
	// sampleBytes is how much of each it has at most, so that one alone does not
	// fill it.
	sampleBytes = s2.MaxDictSize / 4
)

// codec compresses the bodies, or the managedFields, of one resource. Objects of a
// kind are much alike, so a few of them make a dictionary that shrinks the others
// to a tenth. The zero codec has none. It is safe for concurrent use.
type codec struct {
	veil       func(dst, text []byte) ([]byte, error) // What is read goes through it; nil for nothing.
	behind     *codec                                 // The veil, which nothing is encoded with.
	dictionary *s2.Dict                               // Nil for none.
}

// newCodec makes a codec whose dictionary is the given texts, which may be too
// short for one.
func newCodec(samples [][]byte) *codec {
	var dictionary []byte
	for _, sample := range samples {
		dictionary = append(dictionary, sample[:min(len(sample), sampleBytes, s2.MaxDictSize-len(dictionary))]...)
	}
	return &codec{dictionary: s2.MakeDict(dictionary, nil)}
}

// encode returns the text compressed, in dst where that has room for any text of
// its length.
func (c *codec) encode(dst, text []byte) []byte {
	if c.dictionary == nil {
		return s2.Encode(dst, text)
	}
	return c.dictionary.Encode(dst, text)
}

// decode appends the text of a body. That of a nil codec was kept as it is.
func (c *codec) decode(dst, body []byte) ([]byte, error) {
	switch {
	case c == nil:
		return append(dst, body...), nil
	case c.veil != nil:
		text, err := c.behind.decode(nil, body)
		if err != nil {
			return nil, err
		}
		return c.veil(dst, text)
	}
	n, err := s2.DecodedLen(body)
	if err != nil {
		return nil, err
	}
	dst = slices.Grow(dst, n)
	into := dst[len(dst):len(dst):cap(dst)]
	if c.dictionary == nil {
		_, err = s2.Decode(into, body)
	} else {
		_, err = c.dictionary.Decode(into, body)
	}
	return dst[:len(dst)+n], err
}
