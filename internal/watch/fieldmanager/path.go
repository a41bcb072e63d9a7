package fieldmanager

import (
	"strconv"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

type step struct {
	name  string
	item  *node
	index int
}

type node struct {
	text    []byte
	parsed  bool
	members map[string]*node
	items   []*node
}

// steps converts a JSON Pointer to steps from n. A segment counts as an index only if the document has an array with
// this index. Otherwise, it is the name of a member.
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
