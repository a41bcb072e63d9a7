package redact

import (
	"bytes"
	"strings"

	"glasshouse/internal/watch/rawjson"
)

// manages reports whether the managedFields have a masked value in them. They name
// elements of lists by their values, as v:"a", or by members, as k:{"name":"a"}.
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

// gather adds the scalars of a value, each alone, and as that of the member that it is,
// whose name is as in a JSON Pointer.
func gather(scalars map[string]bool, member string, c *rawjson.Cursor) {
	switch c.Peek() { // What is walked was read before: it is well formed.
	case '{':
		_ = c.Object(func(key []byte) error { gather(scalars, string(appendPointer(nil, key)), c); return nil })
	case '[':
		_ = c.Array(func(int) error { gather(scalars, "", c); return nil })
	default:
		text := scalar(c)
		scalars[text], scalars[member+"="+text] = true, true
	}
}

// scalar is what stands at the cursor, a string told from all else.
func scalar(c *rawjson.Cursor) string {
	value, err := c.Value()
	if err != nil {
		return ""
	}
	if value[0] == '"' {
		text, _ := rawjson.Unquote(value) // As above.
		return "text " + text
	}
	return "value " + string(value)
}

// names reports whether fields name one of the scalars. What cannot be read may.
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

// isNamed reports whether the key of an element is, or has, one of the scalars.
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
