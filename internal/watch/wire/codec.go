package wire

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	// sampleObjects is how many objects of a list a dictionary is made from,
	// taken evenly from the first trainingObjects, or trainingBytes of them, and
	// of how many it has the managedFields. Until the dictionary is made they are
	// held as they are.
	sampleObjects   = 8
	trainingObjects = 256
	trainingBytes   = 8 << 20
	// maxDictionary bounds a dictionary, in bytes.
	maxDictionary = 128 << 10
	// dictionaryID is any number: a codec knows one dictionary only.
	dictionaryID = 1
)

// codec compresses bodies and managedFields of one resource. Objects of a kind
// are much alike, so a few of them make a dictionary that shrinks the others to a
// tenth.
// Reading is safe for concurrent use.
type codec struct {
	veil    func(dst, text []byte) ([]byte, error) // What is read goes through it; nil for nothing.
	behind  *codec                                 // The veil, which nothing is encoded with.
	encoder *zstd.Encoder                          // The decoder's of the feed alone; nil after the next list.
	decoder *zstd.Decoder
}

// newCodec makes a codec whose dictionary is the given texts; without any it
// compresses each text by itself.
func newCodec(samples [][]byte) (*codec, error) {
	encoderOptions := []zstd.EOption{
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(128 << 10), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true),
	}
	decoderOptions := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)}
	var dictionary []byte
	for _, sample := range samples {
		dictionary = append(dictionary, sample[:min(len(sample), maxDictionary/(2*sampleObjects))]...)
	}
	if len(dictionary) > 0 {
		encoderOptions = append(encoderOptions, zstd.WithEncoderDictRaw(dictionaryID, dictionary))
		decoderOptions = append(decoderOptions, zstd.WithDecoderDictRaw(dictionaryID, dictionary))
	}
	encoder, err := zstd.NewWriter(nil, encoderOptions...)
	if err != nil {
		return nil, fmt.Errorf("make a zstd encoder: %w", err)
	}
	decoder, err := zstd.NewReader(nil, decoderOptions...)
	if err != nil {
		return nil, fmt.Errorf("make a zstd decoder: %w", err)
	}
	return &codec{encoder: encoder, decoder: decoder}, nil
}

func (c *codec) encode(dst, text []byte) []byte { return c.encoder.EncodeAll(text, dst) }

// decode appends the text of a body. That of a nil codec was kept as it is.
func (c *codec) decode(dst, body []byte) ([]byte, error) {
	if c == nil {
		return append(dst, body...), nil
	}
	if c.veil != nil {
		text, err := c.behind.decode(nil, body)
		if err != nil {
			return nil, err
		}
		return c.veil(dst, text)
	}
	return c.decoder.DecodeAll(body, dst)
}
