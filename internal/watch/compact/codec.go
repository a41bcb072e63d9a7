package compact

import (
	"slices"

	"github.com/klauspost/compress/s2"
)

// sampleBytes is the maximum number of bytes of one object in the dictionary. Without this limit, one large object
// would fill the dictionary.
const sampleBytes = s2.MaxDictSize / 4

// codec compresses the texts of one resource's objects. A dictionary made of similar objects reduces a text to about a
// tenth of its size.
type codec struct {
	mask func(dst, text []byte) ([]byte, error) // Masks the decoded text for guests; nil for no mask.
	// unmasked is the codec that decodes the text before the function mask masks the text. It is nil if there is no
	// mask.
	unmasked   *codec
	dictionary *s2.Dict
}

// newCodec returns a codec whose dictionary consists of the given samples. If the samples are too short, the codec has
// no dictionary.
func newCodec(samples [][]byte) *codec {
	var dictionary []byte
	for _, sample := range samples {
		dictionary = append(dictionary, sample[:min(len(sample), sampleBytes, s2.MaxDictSize-len(dictionary))]...)
	}
	return &codec{dictionary: s2.MakeDict(dictionary, nil)}
}

// encode compresses the text. The result uses the memory of dst if the capacity of dst is enough for the longest
// possible result.
func (c *codec) encode(dst, text []byte) []byte {
	if c.dictionary == nil {
		return s2.Encode(dst, text)
	}
	return c.dictionary.Encode(dst, text)
}

// decode decompresses body, masks the text if the codec has a mask, and appends the text to dst. A nil codec means that
// body is uncompressed text.
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
