package diff

import (
	"bytes"
	"slices"
)

// node is one JSON value. The field text is valid JSON, not empty, and has no white space around it.
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

// parse splits an array or object into n.items, and reports whether this is possible. It returns false for a scalar,
// and for a value that is nested too deeply. The node similar, which can be nil, probably has equal items. If an item
// is equal to an item of similar, parse does not scan the text of the item again.
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

// members returns the members of an object, sorted by key. If several members have the same key, it returns only the
// last of them.
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
