package listwatch

import (
	"slices"

	"github.com/klauspost/compress/s2"
)

const (
	// sampleObjects is the number of objects of a list from which a compression dictionary is built. They are chosen
	// evenly from the first trainingObjects objects, or from the first trainingBytes bytes, until the dictionary is
	// full. Objects stay uncompressed until the dictionary exists.
	sampleObjects   = 16
	trainingObjects = 256
	trainingBytes   = 8 << 20
	// sampleBytes is the maximum length of one object's text in the dictionary, in bytes, so that one object does not
	// fill it.
	sampleBytes = s2.MaxDictSize / 4
)

// codec compresses the bodies (redacted texts), or the managedFields, of the objects of one resource. Objects of a kind
// are similar, so a dictionary of a few objects shrinks the rest to a tenth. The zero codec has no dictionary. A codec
// is safe for concurrent use.
type codec struct {
	mask func(dst, text []byte) ([]byte, error) // The guest mask, applied to decoded text; nil for none.
	// The codec of unmasked text. A codec with a guest mask never encodes.
	unmasked   *codec
	dictionary *s2.Dict // The compression dictionary; nil for none.
}

// newCodec returns a codec whose dictionary consists of the samples. It has no dictionary if they are too short.
func newCodec(samples [][]byte) *codec {
	var dictionary []byte
	for _, sample := range samples {
		dictionary = append(dictionary, sample[:min(len(sample), sampleBytes, s2.MaxDictSize-len(dictionary))]...)
	}
	return &codec{dictionary: s2.MakeDict(dictionary, nil)}
}

// encode returns the compressed text. The result is stored in dst if dst has room for any text of this length.
func (c *codec) encode(dst, text []byte) []byte {
	if c.dictionary == nil {
		return s2.Encode(dst, text)
	}
	return c.dictionary.Encode(dst, text)
}

// decode appends the decompressed text of body to dst. A nil codec means that the body is not compressed.
func (c *codec) decode(dst, body []byte) ([]byte, error) {
	switch {
	case c == nil:
		return append(dst, body...), nil
	case c.mask != nil:
		text, err := c.unmasked.decode(nil, body)
		if err != nil {
			return nil, err
		}
		return c.mask(dst, text)
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
