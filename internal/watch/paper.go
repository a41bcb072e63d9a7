package watch

import (
	"bytes"
	"context"
	"sync"
	"time"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch/wire"
)

const (
	// CompressFrom is the length of a message, in bytes, from which a socket compresses it. Shorter ones gain little.
	CompressFrom = 1 << 10
	// compressorMemory is the memory of a WebSocket's compressor, in bytes (1.1 MB measured). It is in use until the
	// client has read the message.
	compressorMemory = 5 << 18
	// partMemory is the memory of one part of a snapshot of rows, with the compressor. objectMemory is that of an
	// object of 1.5 MiB, the largest that the API server accepts.
	partMemory   = compressorMemory + 4*chunk
	objectMemory = compressorMemory + 3<<20
	// shortMessage is the memory of a message up to which nothing is reserved. Most messages are that short. An idle
	// socket takes nine times as much, and sends one message at a time. A reservation would take a thirtieth of the
	// cost of a message.
	shortMessage = 4 << 10
)

// Plain reports whether a message of the view is sent without compression. Events are, because many readers get the
// same ones and each socket would compress them again. Only the patches of one object are compressed.
func (v View) Plain(message []byte) bool {
	return v != Object &&
		(bytes.HasPrefix(message, []byte(`"type":"events"`)) ||
			bytes.HasPrefix(message, []byte(`"type":"window-events"`)))
}

// LargestText is the length of the largest object that the API server accepts. Its JSON text may be longer: a control
// character takes 6 bytes there.
const LargestText = 3 << 19

// MessageMemory returns the memory of a message while it is sent: its text, a copy of that, and the compressor.
func MessageMemory(length int, plain bool) int64 {
	if plain || length < CompressFrom {
		return 2 * int64(length)
	}
	return compressorMemory + 2*int64(length)
}

// Reserve reserves the memory of a message. bytes is an estimate; it is corrected after the message is built. The
// reservation is released after the message is sent.
type Reserve func(ctx context.Context, bytes int64) (*limit.Reservation, error)

// paper is the buffer for one message of a reader. The next call of Next releases it, so that a waiting reader has no
// buffer. It also has the key that signs and encrypts cursors.
type paper struct {
	pool    *sync.Pool      // Of *[]byte.
	slots   chan struct{}   // Slots in use by readers of the Access; nil for no limit.
	ctx     context.Context //nolint:containedctx // Of the call of Next that returns the message.
	text    *[]byte         // Nil while no buffer is acquired.
	hasSlot bool            // This reader uses one of slots.

	reserve  Reserve            // If nil, nothing is reserved.
	reserved *limit.Reservation // The memory of the message; nil for a message without rows, objects or events.
	list     int64              // Its part for the list of rows, in bytes. It stays until the last part is sent.

	sealed bool
	seal   seal
}

// acquire waits for a slot and for the memory of a message. release frees both. bytes is an estimate of the memory;
// nothing is reserved for a shortMessage. It reports false if ctx has ended.
func (p *paper) acquire(bytes int64) bool {
	if !p.hasSlot && p.slots != nil {
		select {
		case p.slots <- struct{}{}: // This costs a fraction of the select below.
		default:
			select {
			case p.slots <- struct{}{}:
			case <-p.ctx.Done():
				return false
			}
		}
		p.hasSlot = true
	}
	if bytes <= shortMessage || p.reserve == nil || p.reserved != nil {
		return true
	}
	var err error
	p.reserved, err = p.reserve(p.ctx, bytes)
	return err == nil
}

// borrow acquires the buffer and returns it empty.
func (p *paper) borrow() []byte {
	p.acquire(0) // Messages without rows or objects are short. They may be built after ctx has ended.
	if p.text == nil {
		text, ok := p.pool.Get().(*[]byte)
		if !ok {
			text = new([]byte)
		}
		p.text = text
	}
	return (*p.text)[:0]
}

// keep stores the buffer after it has grown, and corrects the reservation.
func (p *paper) keep(text []byte, plain bool) {
	if p.text != nil {
		*p.text = text
	}
	p.reserved.Resize(p.list + MessageMemory(len(text), plain))
}

// expect grows the reservation before a text is added to the message, if the estimate does not include it.
func (p *paper) expect(text []byte) {
	p.reserved.Grow(2 * max(0, int64(len(text))-LargestText))
}

func (p *paper) release() {
	if p.text != nil {
		p.pool.Put(p.text)
		p.text = nil
	}
	p.reserved.Release()
	p.reserved, p.list = nil, 0
	if p.hasSlot {
		<-p.slots
		p.hasSlot = false
	}
}

// sign appends the cursor of the newest message. A restricted reader gets a new cursor unless the message repeats the
// last one.
func (p *paper) sign(s *reading, text []byte) []byte {
	if !p.sealed {
		p.sealed, p.seal = true, s.seal()
	}
	epoch := s.informer.epochOf(s.version)
	if !s.filter.hides {
		return p.seal.append(text, epoch, s.sent)
	}
	if !s.repeated {
		s.restricted = p.seal.newRestricted(epoch, s.sent, time.Now())
	}
	return s.restricted.append(text)
}

// eventsMemory estimates the memory of the events of changes. It returns 0 if there is nothing to send.
func (s *reading) eventsMemory(changes []*change) int64 {
	if len(changes) == 0 || s.behind {
		return 0
	}
	bytes := int64(0)
	if s.view.name == Object {
		bytes += compressorMemory
	}
	for _, c := range changes {
		switch {
		case s.key != "" && c.Key != s.key:
		case s.view.texts:
			bytes += int64(textSize(c.Old) + textSize(c.New))
		default:
			bytes += rowSize(c.New)
		}
	}
	return bytes
}

// textMultiple is the maximum factor by which the text of an object is longer than its compressed form, for most kinds.
// A compressed size of a tenth was measured.
const textMultiple = 8

func textSize(o *wire.Object) int {
	if o == nil {
		return 0
	}
	return o.Size() * textMultiple
}

func rowSize(o *wire.Object) int64 {
	if o == nil {
		return 0
	}
	return int64(o.RowSize())
}
