package watch

import (
	"context"
	"sync"
	"time"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch/wire"
)

const (
	// compressorMemory is what a socket's compressor takes (1.1 MB measured), for as long as the client does not take the
	// message.
	compressorMemory = 5 << 18
	// partMemory is what one part of a snapshot of rows takes with it, and objectMemory an object of 1.5 MiB, the most
	// that the API server takes.
	partMemory   = compressorMemory + 4*chunk
	objectMemory = compressorMemory + 3<<20
	// shortEvents is up to where events have no memory reserved: they are many, and most are short.
	shortEvents = 64 << 10
)

// Reserve reserves the memory of a message: bytes is an estimate, which is corrected once the message is built. It is
// released when the message was sent.
type Reserve func(ctx context.Context, bytes int64) (*limit.Reservation, error)

// paper is what a reading writes its message on: borrowed for as long as
// somebody reads it, so that one which waits holds none. With it goes the seal
// that signs the cursors.
type paper struct {
	pool  *sync.Pool      // Of *[]byte.
	desks chan struct{}   // Of the Access: those that are taken; nil where there are any number.
	ctx   context.Context //nolint:containedctx // Of the Next that the message is for.
	text  *[]byte         // Nil while nothing is borrowed.
	seat  bool            // A desk is taken.

	reserve  Reserve            // Nil reserves nothing.
	reserved *limit.Reservation // The memory of the message; nil for a short one.

	sealed bool
	seal   seal
}

// sit waits for a desk and for the memory of a message, of which bytes is an estimate; 0 is a short one. It has both until
// giveBack. It reports false once nobody waits for the message any more.
func (p *paper) sit(bytes int64) bool {
	if !p.seat && p.desks != nil {
		select {
		case p.desks <- struct{}{}: // Costs a fraction of the select below.
		default:
			select {
			case p.desks <- struct{}{}:
			case <-p.ctx.Done():
				return false
			}
		}
		p.seat = true
	}
	if bytes == 0 || p.reserve == nil || p.reserved != nil {
		return true
	}
	var err error
	p.reserved, err = p.reserve(p.ctx, bytes)
	return err == nil
}

// borrow returns an empty text to append to.
func (p *paper) borrow() []byte {
	p.sit(0) // What is told beside rows and objects is short, and may be written for nobody.
	if p.text == nil {
		text, ok := p.pool.Get().(*[]byte)
		if !ok {
			text = new([]byte)
		}
		p.text = text
	}
	return (*p.text)[:0]
}

// keep takes note of what the borrowed text has become.
func (p *paper) keep(text []byte) {
	if p.text != nil {
		*p.text = text
	}
	p.reserved.Resize(compressorMemory + 2*int64(len(text))) // What is compressed is copied first.
}

func (p *paper) giveBack() {
	if p.text != nil {
		p.pool.Put(p.text)
		p.text = nil
	}
	p.reserved.Release()
	p.reserved = nil
	if p.seat {
		<-p.desks
		p.seat = false
	}
}

// sign appends the cursor of the newest message. A restricted reader's is a new one unless
// the message repeats the last.
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

// eventsMemory is an estimate of what the events of changes take; 0 if that is little.
func (s *reading) eventsMemory(changes []*change) (bytes int64) {
	for _, c := range changes {
		switch {
		case s.key != "" && c.Key != s.key:
		case s.view.texts:
			bytes += int64(textSize(c.Old) + textSize(c.New))
		default:
			bytes += rowSize(c.New)
		}
	}
	if bytes < shortEvents {
		return 0
	}
	return bytes
}

// textMultiple is how much longer texts are than they are kept, at most for most kinds (a tenth was measured).
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
