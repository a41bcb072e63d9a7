package objectrefs

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// members calls visit for each member of a JSON object. It does nothing if the text is not an object.
func members(text []byte, visit func(key string, value []byte)) {
	c := jsonscan.NewCursor(text)
	if c.Peek() != '{' {
		return
	}
	_ = c.Object(func(key []byte) error {
		value, err := c.Value()
		if err == nil {
			visit(string(key), value)
		}
		return err
	})
}

// elements calls visit for each element of a JSON array. It does nothing if the text is not an array.
func elements(text []byte, visit func(value []byte)) {
	c := jsonscan.NewCursor(text)
	if c.Peek() != '[' {
		return
	}
	_ = c.Array(func(int) error {
		value, err := c.Value()
		if err == nil {
			visit(value)
		}
		return err
	})
}

func textOf(value []byte) string {
	text, err := jsonscan.Unquote(value)
	if err != nil {
		return ""
	}
	return text
}

func splitVersion(apiVersion string) (group, version string) {
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		return group, version
	}
	return "", apiVersion
}
