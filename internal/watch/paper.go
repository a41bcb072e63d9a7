package watch

import "sync"

// paper is what a reading writes its message on: borrowed for as long as
// somebody reads it, so that one which waits holds none. With it goes the seal
// that signs the cursors.
type paper struct {
	pool  *sync.Pool      // Of *[]byte.
	desks chan struct{}   // Of the Access: those that are taken; nil where there are any number.
	over  <-chan struct{} // Closed when nobody waits for the message any more.
	text  *[]byte         // Nil while nothing is borrowed.
	seat  bool            // A desk is taken.

	sealed bool
	seal   seal
}

// sit waits for a desk, and has it until giveBack. It has none where nobody waits
// any more for what would be written.
func (p *paper) sit() bool {
	if p.seat || p.desks == nil {
		return true
	}
	select {
	case p.desks <- struct{}{}:
		p.seat = true
		return true
	default: // Which costs a fraction of waiting.
	}
	select {
	case p.desks <- struct{}{}:
		p.seat = true
	case <-p.over:
	}
	return p.seat
}

// borrow returns an empty text to append to.
func (p *paper) borrow() []byte {
	p.sit() // What is told beside rows and objects is short, and may be written for nobody.
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
}

func (p *paper) giveBack() {
	if p.text != nil {
		p.pool.Put(p.text)
		p.text = nil
	}
	if p.seat {
		<-p.desks
		p.seat = false
	}
}

// sign appends the cursor of the newest message.
func (p *paper) sign(s *reading, text []byte) []byte {
	if s.filter.hides {
		return s.random.append(text)
	}
	if !p.sealed {
		p.sealed, p.seal = true, s.seal()
	}
	return p.seal.append(text, s.informer.epochOf(s.version), s.sent)
}
