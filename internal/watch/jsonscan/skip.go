package jsonscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Skip moves the cursor to the end of a JSON value. It returns an error if the value is not valid JSON.
func (c *Cursor) Skip() error {
	switch b := c.Peek(); {
	case b == '"':
		_, err := c.skipString()
		return err
	case b == '{':
		return c.skipObject()
	case b == '[':
		return c.skipArray()
	case b == '-' || b >= '0' && b <= '9':
		return c.skipNumber()
	default:
		return c.skipLiteral()
	}
}

// skipObject accepts the same text as Object. It is faster, because it calls no function for each member.
func (c *Cursor) skipObject() error {
	if c.depth++; c.depth > MaxDepth {
		return fmt.Errorf("byte %d: nested deeper than %d levels", c.pos, MaxDepth)
	}
	c.pos++
	if c.Peek() == '}' {
		c.pos++
		c.depth--
		return nil
	}
	for {
		if c.Peek() != '"' {
			return c.unexpected("the name of a member")
		}
		start := c.pos
		escaped, err := c.skipString()
		switch {
		case err != nil:
			return err
		case c.match != nil && (escaped || c.match(c.data[start+1:c.pos-1])):
			return errMatch
		}
		if c.Peek() != ':' {
			return c.unexpected("':'")
		}
		c.pos++
		if err := c.Skip(); err != nil {
			return err
		}
		switch c.Peek() {
		case ',':
			c.pos++
		case '}':
			c.pos++
			c.depth--
			return nil
		default:
			return c.unexpected("',' or '}'")
		}
	}
}

func (c *Cursor) skipArray() error {
	if c.depth++; c.depth > MaxDepth {
		return fmt.Errorf("byte %d: nested deeper than %d levels", c.pos, MaxDepth)
	}
	c.pos++
	if c.Peek() == ']' {
		c.pos++
		c.depth--
		return nil
	}
	for {
		if err := c.Skip(); err != nil {
			return err
		}
		switch c.Peek() {
		case ',':
			c.pos++
		case ']':
			c.pos++
			c.depth--
			return nil
		default:
			return c.unexpected("',' or ']'")
		}
	}
}

func (c *Cursor) skipString() (escaped bool, err error) {
	data := c.data
	for i := c.pos + 1; i < len(data); i++ {
		for len(data)-i >= 8 {
			n := countPlain(binary.LittleEndian.Uint64(data[i:]))
			if i += n; n < 8 {
				break
			}
		}
		if i == len(data) {
			break
		}
		switch b := data[i]; {
		case b == '"':
			c.pos = i + 1
			return escaped, nil
		case b == '\\':
			escaped = true
			n, ok := escapeLength(data[i+1:])
			if !ok {
				c.pos = i
				return false, fmt.Errorf("byte %d: invalid escape", i)
			}
			i += n
		case b < 0x20:
			c.pos = i
			return false, fmt.Errorf("byte %d: control character in a string", i)
		}
	}
	c.pos = len(data)
	return false, c.unexpected("the end of a string")
}

// countPlain counts the bytes before the first quote, backslash or control character. b contains eight bytes of text,
// the first of them in the lowest bits.
func countPlain(b uint64) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	// Each of the three subtractions sets the high bit of matching bytes: control characters, quotes, and backslashes.
	// A borrow can set wrong bits, but only after the first match.
	found := ((b - ones*0x20) | (b ^ ones*'"' - ones) | (b ^ ones*'\\' - ones)) & ^b & high
	return bits.TrailingZeros64(found) / 8
}

func escapeLength(rest []byte) (int, bool) {
	if len(rest) == 0 {
		return 0, false
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1, true
	case 'u':
		if len(rest) < 5 {
			return 0, false
		}
		for _, b := range rest[1:5] {
			if (b < '0' || b > '9') && (b < 'a' || b > 'f') && (b < 'A' || b > 'F') {
				return 0, false
			}
		}
		return 5, true
	}
	return 0, false
}

func (c *Cursor) skipNumber() error {
	if c.data[c.pos] == '-' {
		c.pos++
	}
	if c.at('0') {
		c.pos++
	} else if !c.digits() {
		return c.unexpected("a digit")
	}
	if c.at('.') {
		c.pos++
		if !c.digits() {
			return c.unexpected("a digit")
		}
	}
	if c.at('e') || c.at('E') {
		c.pos++
		if c.at('+') || c.at('-') {
			c.pos++
		}
		if !c.digits() {
			return c.unexpected("a digit")
		}
	}
	return nil
}

func (c *Cursor) at(b byte) bool { return c.pos < len(c.data) && c.data[c.pos] == b }

func (c *Cursor) digits() bool {
	start := c.pos
	for c.pos < len(c.data) && c.data[c.pos] >= '0' && c.data[c.pos] <= '9' {
		c.pos++
	}
	return c.pos > start
}

func (c *Cursor) skipLiteral() error {
	for _, literal := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(c.data[c.pos:], []byte(literal)) {
			c.pos += len(literal)
			return nil
		}
	}
	return c.unexpected("a value")
}
