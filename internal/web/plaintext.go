package web

import (
	"unicode"
	"unicode/utf8"
)

// plainText converts the output of a container to plain text, piece by piece. It removes terminal escape sequences. It
// replaces invalid UTF-8, and control characters except tab and newline, by U+FFFD. A newline ends any escape sequence,
// so that none can hide the lines after it.
type plainText struct {
	state escape
	held  []byte // Input not converted yet: an incomplete character, or a \r that a newline may follow.
}

// escape is the position within an escape sequence (ECMA-48).
type escape int

const (
	outside  escape = iota
	begun           // After ESC.
	control         // In a control sequence: ESC [ parameters, then one letter.
	command         // In a control string: ESC ] or similar, up to BEL or ESC \.
	commandE        // After an ESC in a control string.
)

// append converts text, the next piece of the output, and appends the result to dst.
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

// end appends U+FFFD for each byte of input that is not converted yet. No more input follows.
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

// next returns the state after one more character of a sequence.
func (e escape) next(r rune) escape {
	switch e {
	case begun:
		switch {
		case r == '[':
			return control
		case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
			return command
		case r >= ' ' && r <= '/' || r == '\x1b':
			return begun // A sequence of more than two characters, such as ESC ( B.
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
