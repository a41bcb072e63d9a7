package watch

import "sync"

// paper is what a reading writes its message on: borrowed for as long as
// somebody reads it, so that one which waits holds none. With it goes the seal
// that signs the cursors.
type paper struct {
	pool *sync.Pool // Of *[]byte.
	text *[]byte    // Nil while nothing is borrowed.

	sealed bool
	seal   seal
}

// borrow returns an empty text to append to.
func (p *paper) borrow() []byte {
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
}

// sign appends the cursor of what was told.
func (p *paper) sign(s *reading, text []byte) []byte {
	if !p.sealed {
		p.sealed, p.seal = true, s.seal()
	}
	return p.seal.append(text, s.informer.epochOf(s.version), s.sent)
}
