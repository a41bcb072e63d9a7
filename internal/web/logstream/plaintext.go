package logstream

import (
	"unicode"
	"unicode/utf8"
)

// plainText removes escape sequences from a log, and replaces invalid characters with U+FFFD. A newline ends any escape
// sequence, so that an unfinished sequence cannot hide later lines.
type plainText struct {
	state   escapeState
	pending []byte // Input that is not converted yet: an incomplete UTF-8 character, or a \r before a possible \n.
}

// escapeState is the position of the parser within a terminal escape sequence (ECMA-48).
type escapeState int

const (
	outsideEscape       escapeState = iota
	afterEscape                     // The last character was ESC.
	controlSequence                 // In a control sequence: ESC [ parameters, then one letter.
	controlString                   // In a control string: ESC ] or similar, up to BEL or ESC \.
	controlStringEscape             // The last character was ESC, within a control string.
)

func (p *plainText) append(dst, text []byte) []byte {
	if len(p.pending) > 0 {
		text = append(p.pending, text...)
		p.pending = nil
	}
	for len(text) > 0 {
		if !utf8.FullRune(text) || len(text) == 1 && text[0] == '\r' {
			p.pending = append([]byte(nil), text...)
			break
		}
		r, size := utf8.DecodeRune(text)
		if r == '\r' && text[1] == '\n' {
			text = text[1:]
			continue
		}
		dst = p.appendRune(dst, r)
		text = text[size:]
	}
	return dst
}

func (p *plainText) finish(dst []byte) []byte {
	for range p.pending {
		dst = p.appendRune(dst, utf8.RuneError)
	}
	p.pending = nil
	return dst
}

func (p *plainText) appendRune(dst []byte, r rune) []byte {
	switch {
	case r == '\n':
		p.state = outsideEscape
	case p.state != outsideEscape:
		p.state = p.state.next(r)
		return dst
	case r == '\x1b':
		p.state = afterEscape
		return dst
	case unicode.IsControl(r) && r != '\t':
		r = utf8.RuneError
	}
	return utf8.AppendRune(dst, r)
}

func (e escapeState) next(r rune) escapeState {
	switch e {
	case afterEscape:
		switch {
		case r == '[':
			return controlSequence
		case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
			return controlString
		case r >= ' ' && r <= '/' || r == '\x1b':
			// The sequence continues, because it has more than two characters, such as ESC ( B.
			return afterEscape
		}
	case controlSequence:
		if r >= ' ' && r <= '?' {
			return controlSequence
		}
	case controlString, controlStringEscape:
		switch {
		case r == '\a' || e == controlStringEscape && r == '\\':
			return outsideEscape
		case r == '\x1b':
			return controlStringEscape
		}
		return controlString
	case outsideEscape:
	}
	return outsideEscape
}
