package author

import (
	"strconv"
	"strings"

	"glasshouse/internal/watch/rawjson"
)

// step leads from a value to a value inside it: to a member by its name, or to an element of an array.
type step struct {
	name string
	item *node // Nil for a member.
	at   int   // The element's index.
}

// node is a value in the document after the change. It is split into its members or elements when they are first
// needed.
type node struct {
	text    []byte
	cut     bool
	members map[string]*node // Of an object.
	items   []*node          // Of an array.
}

// steps resolves a JSON Pointer. A segment that does not exist in the document counts as a member.
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
		if n.open(); n != nil {
			if at, err := strconv.Atoi(token); err == nil && at >= 0 && at < len(n.items) {
				s.item, s.at = n.items[at], at
				n = s.item
			} else {
				n = n.members[s.name]
			}
		}
		steps = append(steps, s)
	}
	return steps
}

// open splits the node. A malformed value has no members or elements.
func (n *node) open() {
	if n == nil || n.cut {
		return
	}
	n.cut = true
	c := rawjson.NewCursor(n.text)
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
