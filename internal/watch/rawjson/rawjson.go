// Package rawjson walks JSON text in one pass without building a value of it.
//
// A cluster sends far more JSON than anybody looks at. Decoding one Pod into
// maps costs about 125 µs and 1,300 allocations; walking its text and taking
// the few members that are wanted costs a few µs and none. What is cut out of
// the text (Value) is exactly the bytes that were read, and those bytes have
// been checked: a Cursor accepts what [encoding/json.Valid] accepts, nothing
// else, so a cut may be pasted into another document.
//
// A Cursor is not safe for concurrent use and keeps no state beyond a position.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// MaxDepth bounds the nesting of a document; encoding/json has the same bound.
const MaxDepth = 10000

// ErrStop ends a walk early: a visit function that returns it makes Object or
// Array return it as it is, with the rest of the document unread.
var ErrStop = errors.New("stop walking")

// A Cursor is a position in a JSON text.
type Cursor struct {
	data  []byte
	pos   int
	depth int
	match func(name []byte) bool // Of ValueWithout; nil outside it.
}

// NewCursor starts at the beginning of data, which the Cursor keeps and never
// changes.
func NewCursor(data []byte) *Cursor { return &Cursor{data: data} }

// Object walks the members of the object at the cursor. A visit that consumes
// nothing has its member's value skipped. The key is valid until visit returns.
func (c *Cursor) Object(visit func(key []byte) error) error {
	return c.each('{', '}', func(key []byte, _ int) error { return visit(key) })
}

// Array walks the elements of the array at the cursor. A visit that consumes
// nothing has its element skipped.
func (c *Cursor) Array(visit func(index int) error) error {
	return c.each('[', ']', func(_ []byte, index int) error { return visit(index) })
}

// each walks what stands between open and end, separated by commas; the items
// of an object have a key.
func (c *Cursor) each(open, end byte, visit func(key []byte, index int) error) error {
	if c.Peek() != open {
		return c.unexpected(fmt.Sprintf("%q", open))
	}
	if c.depth++; c.depth > MaxDepth {
		return fmt.Errorf("byte %d: nested deeper than %d", c.pos, MaxDepth)
	}
	c.pos++
	if c.Peek() == end {
		c.pos++
		c.depth--
		return nil
	}
	for index := 0; ; index++ {
		if err := c.item(open == '{', index, visit); err != nil {
			return err
		}
		switch c.Peek() {
		case ',':
			c.pos++
		case end:
			c.pos++
			c.depth--
			return nil
		default:
			return c.unexpected(fmt.Sprintf("',' or %q", end))
		}
	}
}

func (c *Cursor) item(member bool, index int, visit func(key []byte, index int) error) error {
	var key []byte
	if member {
		var err error
		if key, err = c.key(); err != nil {
			return err
		}
	}
	c.Peek()
	start := c.pos
	if err := visit(key, index); err != nil {
		return err
	}
	if c.pos == start {
		return c.Skip()
	}
	return nil
}

// Value cuts out the value at the cursor, without the space around it. The
// result shares the Cursor's bytes.
func (c *Cursor) Value() ([]byte, error) {
	c.Peek()
	start := c.pos
	if err := c.Skip(); err != nil {
		return nil, err
	}
	return c.data[start:c.pos:c.pos], nil
}

// ValueWithout is Value if no object in the value has a member whose name matches. Otherwise ok is false, and the
// cursor stays where it is. A name that has escapes counts as one that matches.
func (c *Cursor) ValueWithout(match func(name []byte) bool) (value []byte, ok bool, err error) {
	ahead := *c
	ahead.match = match
	value, err = ahead.Value()
	if errors.Is(err, errMatch) {
		return nil, false, nil
	}
	c.pos = ahead.pos
	return value, true, err
}

// errMatch ends the search for a name.
var errMatch = errors.New("a name matches")

// Text decodes the string at the cursor. A null is the empty string, as it is
// for a Go string field.
func (c *Cursor) Text() (string, error) {
	raw, err := c.Value()
	if err != nil {
		return "", err
	}
	return Unquote(raw)
}

// Unquote decodes a JSON string that a Cursor cut out; null is "".
func Unquote(raw []byte) (string, error) {
	if string(raw) == "null" {
		return "", nil
	}
	if len(raw) < 2 || raw[0] != '"' {
		return "", fmt.Errorf("%.20q is not a string", raw)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// AppendString appends s as a JSON string. What HTML would mind is left as it
// is: this JSON goes to JSON.parse.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	for i := range len(s) {
		if b := s[i]; b < 0x20 || b >= 0x7f || b == '"' || b == '\\' {
			var quoted bytes.Buffer
			encode := json.NewEncoder(&quoted)
			encode.SetEscapeHTML(false)
			if err := encode.Encode(string(s)); err != nil {
				panic(err) // A string always encodes.
			}
			return append(dst, bytes.TrimSuffix(quoted.Bytes(), []byte{'\n'})...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// End reports an error unless only space is left.
func (c *Cursor) End() error {
	if c.Peek(); c.pos < len(c.data) {
		return c.unexpected("the end")
	}
	return nil
}

// Peek skips space and returns the byte at the cursor, 0 at the end: '{', '[',
// '"', 't', 'f', 'n' or the first of a number.
func (c *Cursor) Peek() byte {
	for c.pos < len(c.data) {
		switch b := c.data[c.pos]; b {
		case ' ', '\t', '\r', '\n':
			c.pos++
		default:
			return b
		}
	}
	return 0
}

// key reads a member's name and the colon behind it.
func (c *Cursor) key() ([]byte, error) {
	if c.Peek() != '"' {
		return nil, c.unexpected("a member's name")
	}
	start := c.pos
	escaped, err := c.skipString()
	if err != nil {
		return nil, err
	}
	key := c.data[start+1 : c.pos-1]
	if escaped {
		s, err := Unquote(c.data[start:c.pos])
		if err != nil {
			return nil, err
		}
		key = []byte(s)
	}
	if c.Peek() != ':' {
		return nil, c.unexpected("':'")
	}
	c.pos++
	return key, nil
}

func (c *Cursor) unexpected(want string) error {
	if c.pos >= len(c.data) {
		return fmt.Errorf("byte %d: the text ends where %s should be", c.pos, want)
	}
	return fmt.Errorf("byte %d: %q where %s should be", c.pos, c.data[c.pos], want)
}
