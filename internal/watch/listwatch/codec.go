package listwatch

import (
	"slices"

	"github.com/klauspost/compress/s2"
)

const (
	// sampleObjects is the number of objects from which a compression dictionary is built. They are selected evenly
	// from the first objects of a list.
	sampleObjects = 16
	// trainingObjects is the number of objects of a list after which the compression dictionary is built. The first
	// objects of the list stay uncompressed until then.
	trainingObjects = 256
	// trainingBytes is a limit for large objects: the compression dictionary is built earlier than after
	// trainingObjects if the objects reach this size together.
	trainingBytes = 8 << 20
	// sampleBytes is the maximum number of bytes of one object in the dictionary. Without this limit, one large
	// object could fill the dictionary.
	sampleBytes = s2.MaxDictSize / 4
)

// codec compresses the redacted texts or the managedFields of one resource's objects. Objects of one kind are
// similar, so a dictionary from a few objects compresses the others to a tenth of their size. The zero codec has no
// dictionary. A codec is safe for concurrent use.
type codec struct {
	mask func(dst, text []byte) ([]byte, error) // Masks text for guests (share-link viewers); nil for no mask.
	// unmasked is the codec that decodes the text before it is masked. It is set only if mask is set. A codec with a
	// mask only decodes.
	unmasked   *codec
	dictionary *s2.Dict
}

// newCodec returns a codec whose dictionary consists of the given samples of text. If they are too short, the codec
// has no dictionary.
func newCodec(samples [][]byte) *codec {
	var dictionary []byte
	for _, sample := range samples {
		dictionary = append(dictionary, sample[:min(len(sample), sampleBytes, s2.MaxDictSize-len(dictionary))]...)
	}
	return &codec{dictionary: s2.MakeDict(dictionary, nil)}
}

// encode compresses the text. It stores the result in dst if the capacity of dst suffices for the longest possible
// result. Otherwise, it allocates memory.
func (c *codec) encode(dst, text []byte) []byte {
	if c.dictionary == nil {
		return s2.Encode(dst, text)
	}
	return c.dictionary.Encode(dst, text)
}

// decode appends the decompressed text of body to dst. It masks the text if the codec has a mask. A nil codec means
// that body is not compressed.
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
