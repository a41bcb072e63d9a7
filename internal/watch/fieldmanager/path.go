package fieldmanager

import (
	"strconv"
	"strings"

	"glasshouse/internal/watch/jsonscan"
)

// step is one step of a path: to a member of an object, or to an element of an array.
type step struct {
	name  string
	item  *node // the array element; nil if the step leads to an object member
	index int
}

// node is a value in the document after the change. Its members or elements are parsed when first needed.
type node struct {
	text    []byte
	parsed  bool
	members map[string]*node
	items   []*node
}

// steps splits a JSON Pointer into path steps. If the document contains nothing at a segment, the segment counts as a
// member name.
func (n *node) steps(path string) []step {
	if path == "" {
		return nil
	}
	steps := make([]step, 0, strings.Count(path, "/"))
	for token := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		s := step{name: token}
		if strings.Contains(token, "~") {
			s.name = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		}
		if n.parse(); n != nil {
			if index, err := strconv.Atoi(token); err == nil && index >= 0 && index < len(n.items) {
				s.item, s.index = n.items[index], index
				n = s.item
			} else {
				n = n.members[s.name]
			}
		}
		steps = append(steps, s)
	}
	return steps
}

// parse parses the members or elements of the value. A malformed value has none.
func (n *node) parse() {
	if n == nil || n.parsed {
		return
	}
	n.parsed = true
	c := jsonscan.NewCursor(n.text)
	var err error
	switch c.Peek() {
	case '{':
		n.members = make(map[string]*node)
		err = c.Object(func(key []byte) error {
			name := string(key)
			text, err := c.Value()
			n.members[name] = &node{text: text}
			return err
		})
	case '[':
		err = c.Array(func(int) error {
			text, err := c.Value()
			n.items = append(n.items, &node{text: text})
			return err
		})
	}
	if err != nil {
		n.members, n.items = nil, nil
	}
}
