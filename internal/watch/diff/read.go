package diff

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// document validates a JSON document, and splits its outer levels into nodes. similar is a document that probably has
// equal parts, or nil. A part that is equal to a part of similar is not scanned again.
func document(text []byte, similar *node) (node, error) {
	r := reader{data: text}
	n, ok := r.value(0, levelsPerParse, similar)
	if ok && r.peek() == 0 && r.pos == len(text) {
		return n, nil
	}
	c := jsonscan.NewCursor(text)
	if err := c.Skip(); err != nil {
		return n, err
	}
	if err := c.End(); err != nil {
		return n, err
	}
	return n, errors.New("not a JSON document")
}

// A reader splits the outer levels of a JSON text into nodes. It does not use the package jsonscan,
// because that package returns no positions of values.
type reader struct {
	data []byte
	pos  int
}

// value reads the value at r.pos, and splits it down to the given number of levels. depth is the value's own nesting
// depth. similar is a node that probably has equal items, or nil.
func (r *reader) value(depth, levels int, similar *node) (node, bool) {
	n := node{depth: depth}
	first := r.peek()
	start := r.pos
	if levels > 0 && (first == '{' || first == '[') && depth < maxDepth {
		var ok bool
		n.items, ok = r.items(first, depth+1, levels-1, similar)
		n.text = r.data[start:r.pos]
		return n, ok
	}
	var err error
	n.text, err = jsonscan.NewCursor(r.data[start:]).Value()
	r.pos += len(n.text)
	return n, err == nil
}

func (r *reader) items(opening byte, depth, levels int, similar *node) ([]node, bool) {
	var prediction predictor
	if similar != nil {
		prediction.items = similar.items
	}
	closing := opening + 2 // In ASCII, '}' is '{' + 2, and ']' is '[' + 2.
	r.pos++
	if r.peek() == closing {
		r.pos++
		return []node{}, true
	}
	items := make([]node, 0, len(prediction.items)+1)
	for {
		var key []byte
		ok := true
		if opening == '{' {
			key, ok = r.key()
		}
		if !ok {
			return nil, false
		}
		r.peek()
		item := node{depth: depth}
		if n, similarItem := prediction.next(r.data[r.pos:]); n > 0 {
			item.text = r.data[r.pos : r.pos+n]
			r.pos += n
		} else if item, ok = r.value(depth, levels, similarItem); !ok {
			return nil, false
		}
		item.key = key
		items = append(items, item)
		switch r.peek() {
		case ',':
			r.pos++
		case closing:
			r.pos++
			return items, true
		default:
			return nil, false
		}
	}
}

func (r *reader) key() ([]byte, bool) {
	if r.peek() != '"' {
		return nil, false
	}
	raw, err := jsonscan.NewCursor(r.data[r.pos:]).Value()
	if err != nil {
		return nil, false
	}
	r.pos += len(raw)
	if r.peek() != ':' {
		return nil, false
	}
	r.pos++
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw[1 : len(raw)-1], true
	}
	var s string
	err = json.Unmarshal(raw, &s)
	return []byte(s), err == nil
}

func (r *reader) peek() byte {
	for ; r.pos < len(r.data); r.pos++ {
		switch b := r.data[r.pos]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
	return 0
}

// A predictor finds members and elements that are equal to those of a similar text, so that they need no scan.
type predictor struct {
	items []node
	index int
}

// next compares the value at the start of text with the items of the similar text at p.index and next to it. It returns
// the length of an equal item. If no item is equal, it returns 0 and the item at p.index (nil if there is none).
func (p *predictor) next(text []byte) (int, *node) {
	for _, at := range [...]int{p.index, p.index - 1, p.index + 1} {
		if at < 0 || at >= len(p.items) {
			continue
		}
		// Compare only strings, objects and arrays, which end with a delimiter. For example, the number 1 is a prefix of
		// the different number 12.
		known := p.items[at].text
		if b := known[0]; (b == '"' || b == '{' || b == '[') && bytes.HasPrefix(text, known) {
			p.index = at + 1
			return len(known), nil
		}
	}
	p.index++
	if p.index > len(p.items) {
		return 0, nil
	}
	return 0, &p.items[p.index-1]
}
