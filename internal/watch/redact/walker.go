package redact

import (
	"slices"
	"strconv"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// walker redacts one object in one pass. For each value from the object down to the current value, it records which
// step of each rule is the next to match.
type walker struct {
	rules []Rule
	mask  func(out []byte, path string, value []byte) []byte

	positions []position // progress of the rules at all values on the path, the innermost value last
	path      []byte
	key       []byte // name of the present member; nil for a list element
	depth     int
	masked    []string
	values    [][]byte // values[n] is the original value at the path masked[n]
	dropped   []string
	managed   []byte
}

// position is the progress of one rule: its index, and the index of its next step to match.
type position struct{ rule, step int }

// role marks the values that have the same meaning in every object, such as the metadata.
type role int

const (
	otherRole role = iota
	root
	metadata
	annotations
	innerMetadata    // metadata of an inner object or template
	innerAnnotations // annotations of an inner object or template
)

// walk redacts the object at the cursor, and appends it to dst. If the value is not an object, walk appends null
// instead.
func (w *walker) walk(dst []byte, c *jsonscan.Cursor, target *subject) ([]byte, error) {
	if c.Peek() != '{' {
		return append(dst, "null"...), c.Skip()
	}
	for n := range w.rules {
		if !w.rules[n].helm || target.helm {
			w.positions = append(w.positions, position{n, 0})
		}
	}
	return w.value(dst, c, 0, root)
}

// maxSearchDepth is the maximum depth at which a value is searched for annotations and managedFields before its members
// are redacted. It limits the work, because each level searches the text of all deeper levels again.
const maxSearchDepth = 8

// value redacts the value at the cursor, and appends it to out. The slice w.positions[from:] contains the progress of
// the rules at this value. valueRole is the role of this value.
func (w *walker) value(out []byte, c *jsonscan.Cursor, from int, valueRole role) ([]byte, error) {
	kind := c.Peek()
	if (valueRole == metadata || valueRole == annotations) && kind != '{' {
		return append(out, "null"...), c.Skip()
	}
	for _, p := range w.positions[from:] {
		if r := &w.rules[p.rule]; r.masksCompletely(p.step, kind) && !w.isExempt(r, c) {
			return w.maskAt(out, c)
		}
	}
	if kind != '{' && kind != '[' {
		value, err := c.Value()
		return append(out, value...), err
	}
	if valueRole == otherRole && from == len(w.positions) && w.depth <= maxSearchDepth {
		if value, ok, err := c.ValueWithout(isMetadataMember); ok || err != nil {
			return append(out, value...), err
		}
	}
	var err error
	w.depth++
	if kind == '{' {
		out, err = w.object(out, c, from, valueRole)
	} else {
		out, err = w.array(out, c, from)
	}
	w.depth--
	return out, err
}

func (w *walker) isExempt(r *Rule, c *jsonscan.Cursor) bool {
	if r.exempt == nil {
		return false
	}
	trial := *c
	value, err := trial.Value()
	return err == nil && r.exempt(w.key, value)
}

func isMetadataMember(name []byte) bool {
	return string(name) == "annotations" || string(name) == "managedFields"
}

func (w *walker) maskAt(out []byte, c *jsonscan.Cursor) ([]byte, error) {
	value, err := c.Value()
	if err != nil {
		return out, err
	}
	path := string(w.path)
	w.masked, w.values = append(w.masked, path), append(w.values, value)
	return w.mask(out, path, value), nil
}

// masksCompletely reports whether the rule masks the complete value. next is the rule's next step, and kind is the
// value's first character.
func (r *Rule) masksCompletely(next int, kind byte) bool {
	if kind == 'n' {
		return false
	}
	if next == len(r.steps) {
		return true
	}
	switch r.steps[next].kind {
	case member, members:
		return kind != '{'
	case elements:
		return kind != '['
	case anywhere:
	}
	return false
}

func (w *walker) object(out []byte, c *jsonscan.Cursor, from int, objectRole role) ([]byte, error) {
	out = append(out, '{')
	first := true
	err := c.Object(func(key []byte) error {
		inner := roleOf(objectRole, key)
		switch {
		case objectRole == metadata && string(key) == "managedFields":
			var err error
			w.managed, err = c.Value()
			return err
		case objectRole == innerMetadata && string(key) == "managedFields":
			return c.Skip()
		case (objectRole == annotations || objectRole == innerAnnotations) && isCopy(key):
			w.dropped = append(w.dropped, string(appendPointer(w.path, key)))
			return c.Skip()
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(jsonscan.AppendString(out, key), ':')
		to, length := len(w.positions), len(w.path)
		w.enter(from, to, key, c.Peek())
		w.path, w.key = appendPointer(w.path, key), key
		var err error
		out, err = w.value(out, c, to, inner)
		w.positions, w.path = w.positions[:to], w.path[:length]
		return err
	})
	return append(out, '}'), err
}

func (w *walker) array(out []byte, c *jsonscan.Cursor, from int) ([]byte, error) {
	out = append(out, '[')
	err := c.Array(func(index int) error {
		if index > 0 {
			out = append(out, ',')
		}
		to, length := len(w.positions), len(w.path)
		for _, p := range w.positions[from:to] {
			switch w.rules[p.rule].steps[p.step].kind {
			case elements:
				w.push(to, position{p.rule, p.step + 1})
			case anywhere:
				w.push(to, p)
			case member, members:
			}
		}
		w.path, w.key = strconv.AppendInt(append(w.path, '/'), int64(index), 10), nil
		var err error
		out, err = w.value(out, c, to, otherRole)
		w.positions, w.path = w.positions[:to], w.path[:length]
		return err
	})
	return append(out, ']'), err
}

// enter appends to w.positions the progress of the rules at the value of the member with the name key.
// w.positions[from:to] is the progress of the rules at the parent. kind is the first character of the value.
func (w *walker) enter(from, to int, key []byte, kind byte) {
	for _, p := range w.positions[from:to] {
		s := &w.rules[p.rule].steps[p.step]
		matches, repeats := s.match(string(key))
		if matches && (!s.containersOnly || kind == '{' || kind == '[') {
			w.push(to, position{p.rule, p.step + 1})
		}
		if repeats {
			w.push(to, p)
		}
	}
}

func (w *walker) push(from int, p position) {
	if !slices.Contains(w.positions[from:], p) {
		w.positions = append(w.positions, p)
	}
}

func roleOf(parentRole role, key []byte) role {
	switch string(key) {
	case "metadata":
		if parentRole == root {
			return metadata
		}
		return innerMetadata
	case "annotations":
		if parentRole == metadata {
			return annotations
		}
		return innerAnnotations
	}
	return otherRole
}

func appendPointer(dst, name []byte) []byte {
	dst = append(dst, '/')
	for _, b := range name {
		switch b {
		case '~':
			dst = append(dst, "~0"...)
		case '/':
			dst = append(dst, "~1"...)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}
