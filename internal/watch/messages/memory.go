package messages

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/limit"
)

const (
	// CompressFrom is the minimum length, in bytes, of a message that a WebSocket compresses. Compression of shorter
	// messages saves little.
	CompressFrom = 1 << 10
	// CompressorMemory is the memory, in bytes, that the compressor of one WebSocket uses until the client has read the
	// message. 1.1 MB was measured, and the rest is a margin.
	CompressorMemory = 5 << 18
	// PartMemory is the memory for one part of a snapshot of rows, in bytes, including the compressor.
	PartMemory = CompressorMemory + 4*PartBytes
	// ObjectMemory is the memory for a snapshot of one object, in bytes: the compressor, and twice LargestText (3 MiB).
	ObjectMemory = CompressorMemory + 3<<20
	// shortMessage is the size, in bytes, up to which a message reserves no memory. A reservation would add about 3 %
	// to the CPU time of sending such a message.
	shortMessage = 4 << 10
	// LargestText is the largest object that the API server accepts, in bytes (1.5 MiB). Escaped JSON can be longer.
	LargestText = 3 << 19
)

// Memory returns the bytes that a message uses while it is sent: its text twice, and possibly the compressor. A plain
// message is not compressed.
func Memory(length int, plain bool) int64 {
	if plain || length < CompressFrom {
		return 2 * int64(length)
	}
	return CompressorMemory + 2*int64(length)
}

// Reserve reserves memory for one message. The parameter bytes is an estimate. When the message is complete, the caller
// corrects the reservation. After sending the message, the caller releases it.
type Reserve func(ctx context.Context, bytes int64) (*limit.Reservation, error)
