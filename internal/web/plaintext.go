package web

import (
	"unicode"
	"unicode/utf8"
)

// plainText makes text of what a container wrote, piece by piece: escape
// sequences of terminals are taken out, and what is no UTF-8 or a control
// character other than tab and newline is U+FFFD. A newline ends any sequence,
// so that none swallows the lines behind it.
type plainText struct {
	state escape
	held  []byte // The beginning of a character, or a return that a newline may follow.
}

// escape is where in an escape sequence (ECMA-48) the text is.
type escape int

const (
	outside  escape = iota
	begun           // Behind ESC.
	control         // In a control sequence: ESC [ parameters, then one letter.
	command         // In a string: ESC ] or another, up to BEL or ESC \.
	commandE        // Behind an ESC in it.
)

// append appends what text means to dst.
func (p *plainText) append(dst, text []byte) []byte {
	if len(p.held) > 0 {
		text = append(p.held, text...)
		p.held = nil
	}
	for len(text) > 0 {
		if !utf8.FullRune(text) || len(text) == 1 && text[0] == '\r' {
			p.held = append([]byte(nil), text...)
			break
		}
		r, size := utf8.DecodeRune(text)
		if r == '\r' && text[1] == '\n' {
			text = text[1:]
			continue
		}
		dst = p.rune(dst, r)
		text = text[size:]
	}
	return dst
}

// end appends what was held back for more to come.
func (p *plainText) end(dst []byte) []byte {
	for range p.held {
		dst = p.rune(dst, utf8.RuneError)
	}
	p.held = nil
	return dst
}

func (p *plainText) rune(dst []byte, r rune) []byte {
	switch {
	case r == '\n':
		p.state = outside
	case p.state != outside:
		p.state = p.state.next(r)
		return dst
	case r == '\x1b':
		p.state = begun
		return dst
	case unicode.IsControl(r) && r != '\t':
		r = utf8.RuneError
	}
	return utf8.AppendRune(dst, r)
}

// next is the state behind one more character of a sequence.
func (e escape) next(r rune) escape {
	switch e {
	case begun:
		switch {
		case r == '[':
			return control
		case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
			return command
		case r >= ' ' && r <= '/' || r == '\x1b':
			return begun // Of two characters or more: ESC ( B.
		}
	case control:
		if r >= ' ' && r <= '?' {
			return control
		}
	case command, commandE:
		switch {
		case r == '\a' || e == commandE && r == '\\':
			return outside
		case r == '\x1b':
			return commandE
		}
		return command
	case outside:
	}
	return outside
}
