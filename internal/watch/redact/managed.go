package redact

import (
	"bytes"
	"strings"

	"glasshouse/internal/watch/rawjson"
)

// manages reports whether the managedFields contain a masked value. They may, because they identify some elements of
// lists by value, as v:"a", or by members, as k:{"name":"a"}.
func (w *walker) manages() bool {
	if len(w.masked) == 0 || !bytes.Contains(w.managed, []byte(`"v:`)) && !bytes.Contains(w.managed, []byte(`"k:`)) {
		return false
	}
	scalars := make(map[string]bool)
	for n, value := range w.values {
		path := w.masked[n]
		gather(scalars, path[max(0, strings.LastIndexByte(path, '/')):], rawjson.NewCursor(value))
	}
	return names(rawjson.NewCursor(w.managed), scalars)
}

// gather adds the scalars in a value to the set scalars: each one alone, and once more after the name of its member.
// The name has the form of a JSON Pointer segment.
func gather(scalars map[string]bool, member string, c *rawjson.Cursor) {
	switch c.Peek() { // The value was parsed before, so it is well formed.
	case '{':
		_ = c.Object(func(key []byte) error { gather(scalars, string(appendPointer(nil, key)), c); return nil })
	case '[':
		_ = c.Array(func(int) error { gather(scalars, "", c); return nil })
	default:
		text := scalar(c)
		scalars[text], scalars[member+"="+text] = true, true
	}
}

// scalar returns the scalar value at the cursor, with a prefix that distinguishes strings from other values.
func scalar(c *rawjson.Cursor) string {
	value, err := c.Value()
	if err != nil {
		return ""
	}
	if value[0] == '"' {
		text, _ := rawjson.Unquote(value) // It was parsed before.
		return "text " + text
	}
	return "value " + string(value)
}

// names reports whether managedFields contain one of the scalars. It also returns true for managedFields that cannot be
// read.
func names(c *rawjson.Cursor, scalars map[string]bool) (found bool) {
	var err error
	switch c.Peek() {
	case '{':
		err = c.Object(func(key []byte) error {
			found = found || isNamed(key, scalars) || names(c, scalars)
			return nil
		})
	case '[':
		err = c.Array(func(int) error { found = found || names(c, scalars); return nil })
	default:
		return false
	}
	return found || err != nil
}

// isNamed reports whether a key in managedFields, which identifies a list element, is one of the scalars or contains
// one.
func isNamed(key []byte, scalars map[string]bool) (found bool) {
	kind, text, _ := bytes.Cut(bytes.Clone(key), []byte{':'})
	c := rawjson.NewCursor(text)
	switch string(kind) {
	case "v":
		return scalars[scalar(c)]
	case "k":
		err := c.Object(func(key []byte) error {
			member := string(appendPointer(nil, key))
			found = found || scalars[member+"="+scalar(c)]
			return nil
		})
		return found || err != nil
	}
	return false
}
