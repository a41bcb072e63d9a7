package objectrefs

import (
	"strings"

	"glasshouse/internal/watch/jsonscan"
)

// members calls visit for each member of the JSON object in text, which must be valid JSON. For any other JSON value,
// it does nothing.
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

// elements calls visit for each element of the JSON array in text, which must be valid JSON. For any other JSON
// value, it does nothing.
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

// textOf decodes a JSON string. For any other JSON value, it returns an empty string.
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
