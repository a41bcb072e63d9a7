package redact

import (
	"bytes"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// revealsMasked reports whether managedFields contain a masked value. They identify some list elements by value
// (v:"a") or by members (k:{"name":"a"}).
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

// addScalars adds each scalar in a value to a set, in two forms: alone ("text a"), and after the name of the member
// that contains it ("/name=text a").
func addScalars(scalars map[string]bool, member string, c *jsonscan.Cursor) {
	switch c.Peek() {
	case '{':
		_ = c.Object(func(key []byte) error { addScalars(scalars, string(appendPointer(nil, key)), c); return nil })
	case '[':
		_ = c.Array(func(int) error { addScalars(scalars, "", c); return nil })
	default:
		text := scalar(c)
		scalars[text], scalars[member+"="+text] = true, true
	}
}

// scalar returns a value as text. The prefix "text " for strings and "value " for others distinguishes "1" from 1.
func scalar(c *jsonscan.Cursor) string {
	value, err := c.Value()
	if err != nil {
		return ""
	}
	if value[0] == '"' {
		text, _ := jsonscan.Unquote(value)
		return "text " + text
	}
	return "value " + string(value)
}

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
