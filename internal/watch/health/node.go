package health

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// node is a decoded JSON object. Its methods return the zero value for a missing member or an unexpected type.
type node map[string]any

// read decodes only members on which the health depends. Others, such as a ConfigMap's data, can be 1 MiB long.
func read(text []byte) (node, error) {
	o := node{}
	c := jsonscan.NewCursor(text)
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

func (n node) value(path ...string) any {
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
	text, _ := n.value(path...).(string)
	return text
}

func (n node) flag(path ...string) bool {
	flag, _ := n.value(path...).(bool)
	return flag
}

func (n node) has(path ...string) bool { return n.value(path...) != nil }

func (n node) count(path ...string) int64 { return n.countOr(0, path...) }

func (n node) countOr(fallback int64, path ...string) int64 {
	if count, ok := n.value(path...).(int64); ok {
		return count
	}
	return fallback
}

func (n node) node(path ...string) node {
	members, _ := n.value(path...).(map[string]any)
	return members
}

func (n node) nodes(path ...string) (nodes []node) {
	items, _ := n.value(path...).([]any)
	for _, item := range items {
		if members, ok := item.(map[string]any); ok {
			nodes = append(nodes, members)
		}
	}
	return nodes
}

func (n node) texts(path ...string) (texts []string) {
	items, _ := n.value(path...).([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func (n node) group() string {
	group, _, ok := strings.Cut(n.text("apiVersion"), "/")
	if !ok {
		return ""
	}
	return group
}

type condition struct{ kind, status, reason, message string }

func (n node) conditions() (conditions []condition) {
	for _, c := range n.nodes("status", "conditions") {
		conditions = append(
			conditions, condition{c.text("type"), c.text("status"), c.text("reason"), c.text("message")},
		)
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

func (c condition) explanation() string { return joinReason(c.reason, c.message) }
