package stream

import (
	"bytes"
	"context"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/limit"
)

const (
	// CompressFrom is the minimum length, in bytes, of a message that a WebSocket compresses. Compression of shorter
	// messages saves little.
	CompressFrom = 1 << 10
	// compressorMemory is the memory of one WebSocket's compressor, in bytes (1.1 MB measured), until the client has
	// read the message.
	compressorMemory = 5 << 18
	// partMemory is the memory for one part of a snapshot of rows, in bytes, including the compressor.
	partMemory = compressorMemory + 4*chunk
	// objectMemory is the memory for a snapshot of one object, in bytes, with compressor. The largest object has 1.5
	// MiB.
	objectMemory = compressorMemory + 3<<20
	// shortMessage is the memory, in bytes, up to which nothing is reserved. Reservations would make messages a
	// thirtieth more expensive.
	shortMessage = 4 << 10
)

// IsPlain reports whether a message is sent without compression, because many readers get the same events.
func (v View) IsPlain(message []byte) bool {
	return v != Object &&
		(bytes.HasPrefix(message, []byte(`"type":"events"`)) ||
			bytes.HasPrefix(message, []byte(`"type":"window-events"`)))
}

// LargestText is the largest object that the API server accepts, in bytes (1.5 MiB). Escaped JSON can be longer.
const LargestText = 3 << 19

// MessageMemory returns the bytes that a message uses while it is sent: its text twice, and possibly the compressor.
func MessageMemory(length int, plain bool) int64 {
	if plain || length < CompressFrom {
		return 2 * int64(length)
	}
	return compressorMemory + 2*int64(length)
}

// Reserve reserves memory for one message. The caller corrects this estimate later, and releases the memory after
// sending.
type Reserve func(ctx context.Context, bytes int64) (*limit.Reservation, error)

// messageBuffer is the buffer for one message, with its reserved memory. The next call of Reader.Next releases both.
type messageBuffer struct {
	pool  *sync.Pool
	slots chan struct{}   // Limits how many messages of one Access are in memory at the same time; nil for no limit.
	ctx   context.Context //nolint:containedctx // The context of the call of Next that returns the message.
	text  *[]byte
	// shared is the part that other readers can also send. The other readers have only a weak pointer to it.
	shared  *[]byte
	hasSlot bool

	reserve     Reserve
	reservation *limit.Reservation
	listBytes   int64
}

// acquire reserves memory for a message. It returns false if ctx ended; even then, the caller must call release.
func (p *messageBuffer) acquire(bytes int64) bool {
	if !p.hasSlot && p.slots != nil {
		select {
		case p.slots <- struct{}{}: // A select with a default costs a fraction of the one below.
		default:
			select {
			case p.slots <- struct{}{}:
			case <-p.ctx.Done():
				return false
			}
		}
		p.hasSlot = true
	}
	if bytes <= shortMessage || p.reserve == nil || p.reservation != nil {
		return true
	}
	var err error
	p.reservation, err = p.reserve(p.ctx, bytes)
	return err == nil
}

// borrow returns an empty slice of this message's buffer, which the first call takes from the pool.
func (p *messageBuffer) borrow() []byte {
	p.acquire(0)
	if p.text == nil {
		text, ok := p.pool.Get().(*[]byte)
		if !ok {
			text = new([]byte)
		}
		p.text = text
	}
	return (*p.text)[:0]
}

// store stores the complete message, possibly in a new array, and corrects the reservation to the message's length.
func (p *messageBuffer) store(text []byte, plain bool) {
	if p.text != nil {
		*p.text = text
	}
	p.reservation.Resize(p.listBytes + MessageMemory(len(text), plain))
}

func (p *messageBuffer) release() {
	if p.text != nil {
		p.pool.Put(p.text)
		p.text = nil
	}
	p.reservation.Release()
	p.reservation, p.listBytes, p.shared = nil, 0, nil
	if p.hasSlot {
		<-p.slots
		p.hasSlot = false
	}
}
