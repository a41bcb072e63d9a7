package watch

import (
	"bytes"
	"context"
	"sync"
	"time"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch/cursor"
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/listwatch"
)

const (
	// CompressFrom is the minimum length, in bytes, of messages that a socket compresses. Shorter messages gain little.
	CompressFrom = 1 << 10
	// compressorMemory is the memory of the compressor of one WebSocket, in bytes (1.1 MB measured). It is in use until
	// the client has read the message.
	compressorMemory = 5 << 18
	// partMemory is the memory for one part of a snapshot of rows, including the compressor. objectMemory is the memory
	// for a snapshot of one object of 1.5 MiB, the largest that the API server accepts.
	partMemory   = compressorMemory + 4*chunk
	objectMemory = compressorMemory + 3<<20
	// shortMessage is the largest memory of a message, in bytes, for which nothing is reserved. Most messages need no
	// more. An idle socket uses nine times as much, and sends one message at a time. A reservation would add a
	// thirtieth to the cost of a message.
	shortMessage = 4 << 10
)

// IsPlain reports whether a message of the view is sent without compression. Messages of events are plain, because many
// readers get the same events and each socket would compress them again. Only events of the view Object, the patches of
// one object, are compressed.
func (v View) IsPlain(message []byte) bool {
	return v != Object &&
		(bytes.HasPrefix(message, []byte(`"type":"events"`)) ||
			bytes.HasPrefix(message, []byte(`"type":"window-events"`)))
}

// LargestText is the length, in bytes, of the largest object that the API server accepts. The JSON text of such an
// object may be longer: a control character takes 6 bytes there.
const LargestText = 3 << 19

// MessageMemory returns the memory of a message while it is sent: its text, a copy of the text, and the compressor
// unless the message is plain or short.
func MessageMemory(length int, plain bool) int64 {
	if plain || length < CompressFrom {
		return 2 * int64(length)
	}
	return compressorMemory + 2*int64(length)
}

// Reserve is a function that reserves the memory of a message. bytes is an estimate; it is corrected after the message
// is built. The reservation is released after the message is sent.
type Reserve func(ctx context.Context, bytes int64) (*limit.Reservation, error)

// messageBuffer is the buffer for one message of a reader, with the memory that is reserved for the message. The next
// call of reading.Next releases it, so that a reader that waits for changes has no buffer. It also has the key that
// signs and encrypts cursors.
type messageBuffer struct {
	pool    *sync.Pool      // Of *[]byte.
	slots   chan struct{}   // Slots that are in use by readers of the same Access; nil for no limit.
	ctx     context.Context //nolint:containedctx // The context of the call of Next that returns the message.
	text    *[]byte         // Nil while no buffer is acquired.
	hasSlot bool            // This reader uses one of the slots.

	reserve     Reserve            // If nil, nothing is reserved.
	reservation *limit.Reservation // The memory of the message; nil for a message without rows, objects or events.
	listBytes   int64              // The bytes of reserved for the list of rows. They stay until its last part is sent.

	hasCipher bool
	cipher    cursor.Cipher
}

// acquire waits for a slot and reserves the memory of a message; release frees both. bytes is an estimate of the
// memory; nothing is reserved for an estimate up to shortMessage. acquire returns false if the context of the buffer
// has ended.
func (p *messageBuffer) acquire(bytes int64) bool {
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
	if bytes <= shortMessage || p.reserve == nil || p.reservation != nil {
		return true
	}
	var err error
	p.reservation, err = p.reserve(p.ctx, bytes)
	return err == nil
}

// borrow returns the buffer, empty. It gets a buffer from the pool if this message has none yet.
func (p *messageBuffer) borrow() []byte {
	p.acquire(0) // Messages without rows or objects are short. They may be built after the context has ended.
	if p.text == nil {
		text, ok := p.pool.Get().(*[]byte)
		if !ok {
			text = new([]byte)
		}
		p.text = text
	}
	return (*p.text)[:0]
}

// store stores the message as the buffer, which may have grown, and corrects the reservation to the length of the
// message.
func (p *messageBuffer) store(text []byte, plain bool) {
	if p.text != nil {
		*p.text = text
	}
	p.reservation.Resize(p.listBytes + MessageMemory(len(text), plain))
}

// growReservation increases the reservation before an object's text is added to the message. Only the part beyond
// LargestText is added, which the estimate does not include.
func (p *messageBuffer) growReservation(text []byte) {
	p.reservation.Grow(2 * max(0, int64(len(text))-LargestText))
}

func (p *messageBuffer) release() {
	if p.text != nil {
		p.pool.Put(p.text)
		p.text = nil
	}
	p.reservation.Release()
	p.reservation, p.listBytes = nil, 0
	if p.hasSlot {
		<-p.slots
		p.hasSlot = false
	}
}

// appendCursor appends the cursor of the newest message to text. A restricted reader gets a new cursor, unless the
// message repeats the cursor of the one before.
func (p *messageBuffer) appendCursor(s *reader, text []byte) []byte {
	if !p.hasCipher {
		p.hasCipher, p.cipher = true, s.newCipher()
	}
	epoch := s.informer.epochOf(s.version)
	if !s.filter.isRestricted {
		return p.cipher.Append(text, epoch, s.sentOffset)
	}
	if !s.isCursorRepeated {
		s.restrictedCursor = p.cipher.EncryptRestricted(epoch, s.sentOffset, time.Now())
	}
	return s.restrictedCursor.Append(text)
}

// eventsMemory estimates the memory for sending the changes as events. It returns 0 if there is nothing to send.
func (s *reader) eventsMemory(changes []*event.Change) int64 {
	if len(changes) == 0 || s.needsSnapshot {
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

// textMultiple is the largest ratio, for most kinds, of the length of an object's text to its compressed size. Texts
// that compress to a tenth were measured.
const textMultiple = 8

func textSize(o *listwatch.Object) int {
	if o == nil {
		return 0
	}
	return o.Size() * textMultiple
}

func rowSize(o *listwatch.Object) int64 {
	if o == nil {
		return 0
	}
	return int64(o.RowSize())
}
