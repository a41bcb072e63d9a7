package relate

import (
	"strings"

	"glasshouse/internal/watch/rawjson"
)

// members visits those of an object that is well formed; anything else has none.
func members(text []byte, visit func(key string, value []byte)) {
	c := rawjson.NewCursor(text)
	if c.Peek() != '{' {
		return
	}
	_ = c.Object(func(key []byte) error { // It is well formed.
		value, err := c.Value()
		if err == nil {
			visit(string(key), value)
		}
		return err
	})
}

// elements visits those of an array that is well formed; anything else has none.
func elements(text []byte, visit func(value []byte)) {
	c := rawjson.NewCursor(text)
	if c.Peek() != '[' {
		return
	}
	_ = c.Array(func(int) error { // It is well formed.
		value, err := c.Value()
		if err == nil {
			visit(value)
		}
		return err
	})
}

// textOf is a string; anything else is "".
func textOf(value []byte) string {
	text, err := rawjson.Unquote(value)
	if err != nil {
		return ""
	}
	return text
}

// splitVersion splits an apiVersion.
func splitVersion(apiVersion string) (group, version string) {
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		return group, version
	}
	return "", apiVersion
}
