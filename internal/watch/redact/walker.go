package redact

import (
	"slices"
	"strconv"

	"glasshouse/internal/watch/jsonscan"
)

// walker redacts one object in one pass over its text. For each value from the root to the current value, it tracks how
// far each rule has matched. It copies a value unchanged if no rule can apply in it, and if it has no annotations or
// managedFields.
type walker struct {
	rules []Rule
	mask  func(out []byte, path string, value []byte) []byte

	positions []position // The positions for each value from the root to the current one, which is last.
	path      []byte     // JSON Pointer to the current value.
	key       []byte     // Key of the current value; nil in a list.
	depth     int        // Depth of the current value.
	masked    []string
	values    [][]byte // The values that were masked, in the order of masked.
	dropped   []string // The annotations that were dropped, as JSON Pointers.
	managed   []byte
}

// position is how far a rule has matched: the index of the rule's next step.
type position struct{ rule, step int }

// role is the role of a value in an object, for the values that have the same role in every object.
type role int

const (
	otherRole        role = iota
	root                  // The object.
	metadata              // The metadata of the object.
	annotations           // The annotations of the object.
	innerMetadata         // The metadata of an object or template inside the object.
	innerAnnotations      // Every other value with the name annotations.
)

// walk redacts the object at the cursor, and appends the result. If the value at the cursor is not an object, it
// appends null.
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

// maxSearchDepth is the maximum depth of values that are first searched for anything to redact, so that they can be
// copied in one piece. Deeper values are walked without a search, because each level would search the same text again.
const maxSearchDepth = 8

// value redacts the value at the cursor. from is the index in live at which the positions of the value begin.
func (w *walker) value(out []byte, c *jsonscan.Cursor, from int, at role) ([]byte, error) {
	kind := c.Peek()
	if (at == metadata || at == annotations) && kind != '{' {
		return append(out, "null"...), c.Skip() // A value of this type contains nothing that may be stored.
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
	if at == otherRole && from == len(w.positions) && w.depth <= maxSearchDepth {
		if value, ok, err := c.ValueWithout(isMetadataMember); ok || err != nil {
			return append(out, value...), err
		}
	}
	var err error
	w.depth++
	if kind == '{' {
		out, err = w.object(out, c, from, at)
	} else {
		out, err = w.array(out, c, from)
	}
	w.depth--
	return out, err
}

// isExempt reports whether the rule exempts the value at the cursor, so that it stays unmasked although the steps of
// the rule lead to it.
func (w *walker) isExempt(r *Rule, c *jsonscan.Cursor) bool {
	if r.exempt == nil {
		return false
	}
	trial := *c
	value, err := trial.Value()
	return err == nil && r.exempt(w.key, value)
}

// isMetadataMember reports whether a name is annotations or managedFields. Members with these names, or inside them,
// may have to be dropped from any object.
func isMetadataMember(name []byte) bool {
	return string(name) == "annotations" || string(name) == "managedFields"
}

// maskAt masks the value at the cursor.
func (w *walker) maskAt(out []byte, c *jsonscan.Cursor) ([]byte, error) {
	value, err := c.Value()
	if err != nil {
		return out, err
	}
	path := string(w.path)
	w.masked, w.values = append(w.masked, path), append(w.values, value)
	return w.mask(out, path, value), nil
}

// masksCompletely reports whether the rule masks a value completely. next is the index of the rule's next step, and
// kind the first character of the value. The rule masks the value if no step is left, or if the next step requires a
// value of another type. null is never masked.
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

func (w *walker) object(out []byte, c *jsonscan.Cursor, from int, at role) ([]byte, error) {
	out = append(out, '{')
	first := true
	err := c.Object(func(key []byte) error {
		inner := roleOf(at, key)
		switch {
		case at == metadata && string(key) == "managedFields":
			var err error
			w.managed, err = c.Value()
			return err
		case at == innerMetadata && string(key) == "managedFields":
			return c.Skip()
		case (at == annotations || at == innerAnnotations) && isCopy(key):
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
			case member, members: // The complete array was masked before.
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

// enter pushes the positions for a member with the key, whose value begins with kind.
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

// push adds a position to positions, unless they contain it already at the index from or later.
func (w *walker) push(from int, p position) {
	if !slices.Contains(w.positions[from:], p) {
		w.positions = append(w.positions, p)
	}
}

// roleOf returns the place (role) of the member with the key in a value with the place at.
func roleOf(at role, key []byte) role {
	switch string(key) {
	case "metadata":
		if at == root {
			return metadata
		}
		return innerMetadata
	case "annotations":
		if at == metadata {
			return annotations
		}
		return innerAnnotations
	}
	return otherRole
}

// appendPointer appends a name as a segment of a JSON Pointer.
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
