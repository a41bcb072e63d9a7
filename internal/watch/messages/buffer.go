package messages

import (
	"context"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/limit"
)

// Buffer is the buffer for one message at a time, with its reserved memory. The caller must call SetContext before the
// other methods.
type Buffer struct {
	Pool    *sync.Pool    // Contains slices for messages (*[]byte) to reuse.
	Slots   chan struct{} // Limits how many messages of one Access are in memory at the same time; nil for no limit.
	Reserve Reserve       // nil reserves no memory.

	ctx  context.Context //nolint:containedctx // See SetContext.
	text *[]byte
	// shared is a part of the message that other readers can send, too. The pointer keeps this part in memory, because
	// the cache of shared parts has only a weak pointer.
	shared  *[]byte
	hasSlot bool

	reservation *limit.Reservation
	listBytes   int64
}

// SetContext sets the context whose end interrupts Acquire. It replaces the previous context.
func (b *Buffer) SetContext(ctx context.Context) { b.ctx = ctx }

// Acquire waits for a slot (see Slots), and reserves bytes of memory unless this message has reserved memory already.
// It returns false if the context ended. Even then, the caller must call Release.
func (b *Buffer) Acquire(bytes int64) bool {
	if !b.hasSlot && b.Slots != nil {
		select {
		case b.Slots <- struct{}{}: // A select with a default costs a fraction of the one below.
		default:
			select {
			case b.Slots <- struct{}{}:
			case <-b.ctx.Done():
				return false
			}
		}
		b.hasSlot = true
	}
	if bytes <= shortMessage || b.Reserve == nil || b.reservation != nil {
		return true
	}
	var err error
	b.reservation, err = b.Reserve(b.ctx, bytes)
	return err == nil
}

// Grow adds bytes to the reserved memory.
func (b *Buffer) Grow(bytes int64) { b.reservation.Grow(bytes) }

// KeepList sets the size of the list of rows. The list stays in memory, so that later parts of the snapshot can be
// built from it. The reserved memory includes this size until Release.
func (b *Buffer) KeepList(bytes int64) { b.listBytes = bytes }

// KeepShared keeps a text in memory until Release. Other readers can send the same text at the same time.
func (b *Buffer) KeepShared(text *[]byte) { b.shared = text }

// Borrow returns an empty slice of this message's buffer, which the first call takes from the pool. Like Acquire, it
// can block until a slot is free.
func (b *Buffer) Borrow() []byte {
	b.Acquire(0)
	if b.text == nil {
		text, ok := b.Pool.Get().(*[]byte)
		if !ok {
			text = new([]byte)
		}
		b.text = text
	}
	return (*b.text)[:0]
}

// Store stores the complete message, and corrects the reserved memory. plain means that it is sent without compression.
func (b *Buffer) Store(text []byte, plain bool) {
	if b.text != nil {
		*b.text = text
	}
	b.reservation.Resize(b.listBytes + Memory(len(text), plain))
}

// Release releases the buffer, the memory and the slot. The message is then invalid.
func (b *Buffer) Release() {
	if b.text != nil {
		b.Pool.Put(b.text)
		b.text = nil
	}
	b.reservation.Release()
	b.reservation, b.listBytes, b.shared = nil, 0, nil
	if b.hasSlot {
		<-b.Slots
		b.hasSlot = false
	}
}
