package redact

import (
	"bytes"
	"strings"

	"glasshouse/internal/watch/jsonscan"
)

// revealsMasked reports whether the managedFields contain a masked value. They may, because they identify some elements
// of lists by value, as v:"a", or by members, as k:{"name":"a"}.
func (w *walker) revealsMasked() bool {
	if len(w.masked) == 0 || !bytes.Contains(w.managed, []byte(`"v:`)) && !bytes.Contains(w.managed, []byte(`"k:`)) {
		return false
	}
	scalars := make(map[string]bool)
	for n, value := range w.values {
		path := w.masked[n]
		addScalars(scalars, path[max(0, strings.LastIndexByte(path, '/')):], jsonscan.NewCursor(value))
	}
	return containsScalar(jsonscan.NewCursor(w.managed), scalars)
}

// addScalars adds the scalars in a value to the set scalars: each one alone, and once more after the name of its
// member. The name has the form of a JSON Pointer segment.
func addScalars(scalars map[string]bool, member string, c *jsonscan.Cursor) {
	switch c.Peek() { // The value was parsed before, so it is well formed.
	case '{':
		_ = c.Object(func(key []byte) error { addScalars(scalars, string(appendPointer(nil, key)), c); return nil })
	case '[':
		_ = c.Array(func(int) error { addScalars(scalars, "", c); return nil })
	default:
		text := scalar(c)
		scalars[text], scalars[member+"="+text] = true, true
	}
}

// scalar returns the scalar value at the cursor, with a prefix that distinguishes strings from other values.
func scalar(c *jsonscan.Cursor) string {
	value, err := c.Value()
	if err != nil {
		return ""
	}
	if value[0] == '"' {
		text, _ := jsonscan.Unquote(value) // The value was parsed before, so there is no error.
		return "text " + text
	}
	return "value " + string(value)
}

// containsScalar reports whether managedFields contain one of the scalars. It also returns true for managedFields that
// cannot be read.
func containsScalar(c *jsonscan.Cursor, scalars map[string]bool) (found bool) {
	var err error
	switch c.Peek() {
	case '{':
		err = c.Object(func(key []byte) error {
			found = found || keyContainsScalar(key, scalars) || containsScalar(c, scalars)
			return nil
		})
	case '[':
		err = c.Array(func(int) error { found = found || containsScalar(c, scalars); return nil })
	default:
		return false
	}
	return found || err != nil
}

// keyContainsScalar reports whether a key in managedFields, which identifies a list element, is one of the scalars or
// contains one.
func keyContainsScalar(key []byte, scalars map[string]bool) (found bool) {
	kind, text, _ := bytes.Cut(bytes.Clone(key), []byte{':'})
	c := jsonscan.NewCursor(text)
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
