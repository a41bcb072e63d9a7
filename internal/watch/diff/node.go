package diff

import (
	"bytes"
	"slices"
)

// node is one JSON value. Its text is valid, not empty, and without surrounding white space.
type node struct {
	key   []byte
	text  []byte
	items []node
	depth int
}

const (
	levelsPerParse = 2
	maxDepth       = 100
)

// parse sets n.items, or returns false for a scalar or deep nesting. If a part of n and a part of similar have equal
// text, n gets the nodes of similar.
func (n *node) parse(similar *node) bool {
	if n.items != nil {
		return true
	}
	if n.text[0] != '{' && n.text[0] != '[' || n.depth >= maxDepth {
		return false
	}
	r := reader{data: n.text}
	parsed, ok := r.value(n.depth, levelsPerParse, similar)
	n.items = parsed.items
	return ok
}

// members returns the members of an object, sorted by key. Of members with the same key, the final one counts.
func (n *node) members() []node {
	for i := 1; i < len(n.items); i++ {
		if bytes.Compare(n.items[i-1].key, n.items[i].key) < 0 {
			continue
		}
		slices.SortStableFunc(n.items, func(a, b node) int { return bytes.Compare(a.key, b.key) })
		unique := n.items[:0]
		for i, item := range n.items {
			if i+1 == len(n.items) || !bytes.Equal(item.key, n.items[i+1].key) {
				unique = append(unique, item)
			}
		}
		n.items = unique
		break
	}
	return n.items
}

func (n *node) member(name string) []byte {
	if n.text[0] != '{' || !n.parse(nil) {
		return nil
	}
	for i := range n.items {
		if string(n.items[i].key) == name {
			return n.items[i].text
		}
	}
	return nil
}

func equal(a, b *node) bool {
	if bytes.Equal(a.text, b.text) {
		return true
	}
	if a.text[0] != b.text[0] || !a.parse(nil) || !b.parse(a) {
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
