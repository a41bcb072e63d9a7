package health

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// object is a decoded JSON object. Its methods return the zero value for a missing member or an unexpected type.
type object map[string]any

// read decodes only members on which the health depends. Others, such as a ConfigMap's data, can be 1 MiB long.
func read(text []byte) (object, error) {
	o := object{}
	c := jsonscan.NewCursor(text)
	err := c.Object(func(key []byte) error {
		switch name := string(key); name {
		case "apiVersion", "kind", "metadata", "spec", "status",
			"type", "reason", "message", "note", "firstTimestamp", "eventTime", "deprecatedFirstTimestamp": // Of an Event.
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

func (o object) value(path ...string) any {
	var value any = map[string]any(o)
	for _, name := range path {
		members, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = members[name]
	}
	return value
}

func (o object) text(path ...string) string {
	text, _ := o.value(path...).(string)
	return text
}

func (o object) flag(path ...string) bool {
	flag, _ := o.value(path...).(bool)
	return flag
}

// time returns the zero Time for text that is not a time.
func (o object) time(path ...string) time.Time {
	at, _ := time.Parse(time.RFC3339, o.text(path...))
	return at
}

func (o object) has(path ...string) bool { return o.value(path...) != nil }

func (o object) count(path ...string) int64 { return o.countOr(0, path...) }

func (o object) countOr(fallback int64, path ...string) int64 {
	if count, ok := o.value(path...).(int64); ok {
		return count
	}
	return fallback
}

func (o object) child(path ...string) object {
	members, _ := o.value(path...).(map[string]any)
	return members
}

func (o object) children(path ...string) (children []object) {
	items, _ := o.value(path...).([]any)
	for _, item := range items {
		if members, ok := item.(map[string]any); ok {
			children = append(children, members)
		}
	}
	return children
}

func (o object) texts(path ...string) (texts []string) {
	items, _ := o.value(path...).([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func (o object) group() string {
	group, _, ok := strings.Cut(o.text("apiVersion"), "/")
	if !ok {
		return ""
	}
	return group
}

type condition struct {
	kind, status, reason, message string
	changedAt                     time.Time
}

func (o object) conditions() (conditions []condition) {
	for _, c := range o.children("status", "conditions") {
		conditions = append(conditions, condition{
			c.text("type"), c.text("status"), c.text("reason"), c.text("message"), c.time("lastTransitionTime"),
		})
	}
	return conditions
}

func (o object) condition(kind string) condition {
	for _, c := range o.conditions() {
		if c.kind == kind {
			return c
		}
	}
	return condition{}
}

func (c condition) is(status string) bool { return c.status == status }

func (c condition) explanation() string { return message.Join(c.reason, c.message) }

// shortExplanation returns the message without a prefix without information, or the reason if there is no message.
func (c condition) shortExplanation(prefixes ...string) string {
	message := c.message
	for _, prefix := range prefixes {
		message = strings.TrimPrefix(message, prefix)
	}
	return cmp.Or(message, c.explanation())
}
