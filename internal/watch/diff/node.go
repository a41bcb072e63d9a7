package diff

import (
	"bytes"
	"slices"
)

// A node is a value in a JSON text. Its text is valid JSON without space
// around it and never empty.
type node struct {
	key   []byte // The member's name, decoded.
	text  []byte
	items []node // Its members or elements once cut, nil before.
	depth int
}

const (
	levelsAtOnce = 2
	maxDepth     = 100
)

// cut makes sure that n.items is there, unless n is no object or array, or
// lies too deep.
func (n *node) cut(like *node) bool {
	if n.items != nil {
		return true
	}
	if n.text[0] != '{' && n.text[0] != '[' || n.depth >= maxDepth {
		return false
	}
	r := reader{data: n.text}
	again, ok := r.value(n.depth, levelsAtOnce, like)
	n.items = again.items // nil if not ok, which no text that was read once is.
	return ok
}

// members returns the items of an object in the order of their keys, each key
// once.
func (n *node) members() []node {
	for i := 1; i < len(n.items); i++ {
		if bytes.Compare(n.items[i-1].key, n.items[i].key) < 0 {
			continue
		}
		slices.SortStableFunc(n.items, func(a, b node) int { return bytes.Compare(a.key, b.key) })
		kept := n.items[:0]
		for i, item := range n.items {
			if i+1 == len(n.items) || !bytes.Equal(item.key, n.items[i+1].key) {
				kept = append(kept, item)
			}
		}
		n.items = kept
		break
	}
	return n.items
}

// member returns the text of a member, nil if n has none of that name.
func (n *node) member(name string) []byte {
	if n.text[0] != '{' || !n.cut(nil) {
		return nil
	}
	for i := range n.items {
		if string(n.items[i].key) == name {
			return n.items[i].text
		}
	}
	return nil
}

// equal reports whether no op leads from a to b.
func equal(a, b *node) bool {
	if bytes.Equal(a.text, b.text) {
		return true
	}
	if a.text[0] != b.text[0] || !a.cut(nil) || !b.cut(a) {
		return false
	}
	as, bs := a.items, b.items
	if a.text[0] == '{' {
		as, bs = a.members(), b.members()
	}
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		if !bytes.Equal(as[i].key, bs[i].key) || !equal(&as[i], &bs[i]) {
			return false
		}
	}
	return true
}
