package objectrefs

import (
	"strings"

	"glasshouse/internal/watch/jsonscan"
)

// members calls visit for each member of a well-formed object. It does nothing for any other value.
func members(text []byte, visit func(key string, value []byte)) {
	c := jsonscan.NewCursor(text)
	if c.Peek() != '{' {
		return
	}
	_ = c.Object(func(key []byte) error { // The object is valid JSON, so there is no error.
		value, err := c.Value()
		if err == nil {
			visit(string(key), value)
		}
		return err
	})
}

// elements calls visit for each element of a well-formed array. It does nothing for any other value.
func elements(text []byte, visit func(value []byte)) {
	c := jsonscan.NewCursor(text)
	if c.Peek() != '[' {
		return
	}
	_ = c.Array(func(int) error { // The array is valid JSON, so there is no error.
		value, err := c.Value()
		if err == nil {
			visit(value)
		}
		return err
	})
}

// textOf decodes a JSON string. It returns "" for any other value.
func textOf(value []byte) string {
	text, err := jsonscan.Unquote(value)
	if err != nil {
		return ""
	}
	return text
}

// splitVersion splits an apiVersion into group and version.
func splitVersion(apiVersion string) (group, version string) {
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		return group, version
	}
	return "", apiVersion
}
