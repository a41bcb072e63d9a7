package stream

import (
	"bytes"
	"context"
	"sync"

	"glasshouse/internal/limit"
)

const (
	// CompressFrom is the minimum length, in bytes, of a message that a WebSocket compresses. Compression of shorter
	// messages saves little.
	CompressFrom = 1 << 10
	// compressorMemory is the memory of the compressor of one WebSocket, in bytes (1.1 MB measured). The compressor
	// is in use until the client has read the message.
	compressorMemory = 5 << 18
	// partMemory is the memory for one part of a snapshot of rows, in bytes, including the compressor.
	partMemory = compressorMemory + 4*chunk
	// objectMemory is the memory for a snapshot of one object, in bytes, including the compressor. The largest object
	// that the API server accepts has 1.5 MiB.
	objectMemory = compressorMemory + 3<<20
	// shortMessage is the memory of a message, in bytes, up to which nothing is reserved. Most messages are this
	// short, and a reservation would increase their cost by a thirtieth. The risk is small: an idle socket uses nine
	// times as much memory, and sends one message at a time.
	shortMessage = 4 << 10
)

// IsPlain reports whether a message of the view is sent without compression. Messages with events are plain, because
// many readers get the same events, and each socket would compress them again. Messages of the view Object are never
// plain: their events are patches of one object, for few readers.
func (v View) IsPlain(message []byte) bool {
	return v != Object &&
		(bytes.HasPrefix(message, []byte(`"type":"events"`)) ||
			bytes.HasPrefix(message, []byte(`"type":"window-events"`)))
}

// LargestText is the length, in bytes, of the largest object that the API server accepts (1.5 MiB). The JSON text of
// such an object can be longer, because it contains each control character as 6 bytes.
const LargestText = 3 << 19

// MessageMemory returns the memory in bytes that a message of the given length uses while it is sent: its text, a
// copy of the text, and the compressor. A message needs no compressor if it is plain (not to be compressed), or
// shorter than CompressFrom.
func MessageMemory(length int, plain bool) int64 {
	if plain || length < CompressFrom {
		return 2 * int64(length)
	}
	return compressorMemory + 2*int64(length)
}

// Reserve is a function that reserves memory for one message. bytes is an estimate: the caller corrects the
// reservation after the message is built. It releases the reservation after the message is sent.
type Reserve func(ctx context.Context, bytes int64) (*limit.Reservation, error)

// messageBuffer is the buffer for one message of a reader, with the reservation of the message's memory. The next
// call of Reader.Next releases both, so that a reader that waits for changes has no buffer.
type messageBuffer struct {
	pool  *sync.Pool
	slots chan struct{}   // Limits how many messages of one Access are in memory at the same time; nil for no limit.
	ctx   context.Context //nolint:containedctx // The context of the call of Next that returns the message.
	text  *[]byte
	// shared is the part of the message that other readers can also send. This field keeps the text in memory, because
	// the other readers have only a weak pointer to it.
	shared  *[]byte
	hasSlot bool

	reserve     Reserve
	reservation *limit.Reservation
	listBytes   int64
}

// acquire waits until the reader is allowed to build a message, and reserves memory for the message. bytes is an
// estimate. If it is at most shortMessage, nothing is reserved. acquire returns false if the buffer's context has
// ended. Even then, the caller must call release.
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

// borrow returns an empty slice of this message's buffer. The first call for a message takes the buffer from the
// pool.
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

// store stores the complete message in the buffer. The message is in a new array if it was longer than the buffer.
// store also corrects the reservation to the length of the message.
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
