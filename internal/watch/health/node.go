package health

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"

	"glasshouse/internal/watch/rawjson"
)

// node is a JSON object; its numbers are int64 where they are whole. A member
// that is not there, or of another type, is that type's zero.
type node map[string]any

// read decodes what tells of an object's health. Data of a megabyte, as
// ConfigMaps have, is passed over.
func read(text []byte) (node, error) {
	o := node{}
	c := rawjson.NewCursor(text)
	err := c.Object(func(key []byte) error {
		switch name := string(key); name {
		case "apiVersion", "kind", "metadata", "spec", "status":
			raw, err := c.Value()
			if err != nil {
				return err
			}
			var value any
			if err := json.Unmarshal(raw, &value); err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			o[name] = value
		}
		return nil
	})
	return o, err
}

func (n node) at(path ...string) any {
	var value any = map[string]any(n)
	for _, name := range path {
		members, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = members[name]
	}
	return value
}

func (n node) text(path ...string) string {
	text, _ := n.at(path...).(string)
	return text
}

func (n node) flag(path ...string) bool {
	flag, _ := n.at(path...).(bool)
	return flag
}

func (n node) has(path ...string) bool { return n.at(path...) != nil }

// count is 0 where there is none.
func (n node) count(path ...string) int64 { return n.countOr(0, path...) }

func (n node) countOr(other int64, path ...string) int64 {
	if count, ok := n.at(path...).(int64); ok {
		return count
	}
	return other
}

func (n node) node(path ...string) node {
	members, _ := n.at(path...).(map[string]any)
	return members
}

func (n node) nodes(path ...string) (nodes []node) {
	items, _ := n.at(path...).([]any)
	for _, item := range items {
		if members, ok := item.(map[string]any); ok {
			nodes = append(nodes, members)
		}
	}
	return nodes
}

func (n node) texts(path ...string) (texts []string) {
	items, _ := n.at(path...).([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// group is the API group; empty for the core group.
func (n node) group() string {
	group, _, ok := strings.Cut(n.text("apiVersion"), "/")
	if !ok {
		return ""
	}
	return group
}

// condition is one of an object's status; the zero condition is none.
type condition struct{ kind, status, reason, message string }

func (n node) conditions() (conditions []condition) {
	for _, c := range n.nodes("status", "conditions") {
		conditions = append(conditions, condition{c.text("type"), c.text("status"), c.text("reason"), c.text("message")})
	}
	return conditions
}

func (n node) condition(kind string) condition {
	for _, c := range n.conditions() {
		if c.kind == kind {
			return c
		}
	}
	return condition{}
}

func (c condition) is(status string) bool { return c.status == status }

func (c condition) why() string { return join(c.reason, c.message) }
