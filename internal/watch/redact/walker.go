package redact

import (
	"slices"
	"strconv"

	"glasshouse/internal/watch/jsonscan"
)

// walker redacts one object in one pass over its JSON text. For each value on the way from the root, it records how
// many steps of each rule have matched. It copies a value unchanged if no rule can match inside the value, and the
// value contains no annotations or managedFields.
type walker struct {
	rules []Rule
	mask  func(out []byte, path string, value []byte) []byte

	positions []position // The progress of the rules at each value on the current path, the innermost last.
	path      []byte
	key       []byte // Name of the current member; nil for a list element.
	depth     int
	masked    []string
	values    [][]byte // The masked values, in the same order as their paths in the field masked.
	dropped   []string
	managed   []byte
}

// position is the progress of one rule on the current path: the index of the rule and the index of its next step to
// match.
type position struct{ rule, step int }

// role is the special meaning that a value has in every object, such as the metadata.
type role int

const (
	otherRole role = iota
	root
	metadata         // The object's own metadata.
	annotations      // The annotations in the object's own metadata.
	innerMetadata    // Another value with the name metadata, which belongs to an inner object or template.
	innerAnnotations // Another value with the name annotations.
)

// walk redacts the object at the cursor, and appends the result to dst. If the value at the cursor is not a JSON
// object, it is replaced by null.
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

// maxSearchDepth is the maximum depth of values that are first searched for annotations and managedFields. A value
// that contains neither is copied in one piece. Deeper values are not searched, because each level would search the
// same text again.
const maxSearchDepth = 8

// value redacts the value at the cursor, and appends the result to out. The slice w.positions[from:] contains the
// progress of the rules at this value. The parameter at is the role of the value.
func (w *walker) value(out []byte, c *jsonscan.Cursor, from int, at role) ([]byte, error) {
	kind := c.Peek()
	if (at == metadata || at == annotations) && kind != '{' {
		return append(out, "null"...), c.Skip() // Metadata or annotations of another type than object are invalid.
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

// isExempt reports whether the rule has an exemption for the value at the cursor, so that the value is not masked.
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

// masksCompletely reports whether the rule masks a value as a whole. The parameter next is the index of the rule's
// next step, and kind is the first character of the value, which shows its type. The rule masks the value if it has
// no next step, or if its next step requires another type of value. null is never masked.
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
			case member, members: // For these steps, the method value has already masked the array.
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

// enter appends the progress of the rules at the value of a member to w.positions. The parameter key is the name of
// the member, and kind is the first character of its value. The slice w.positions[from:to] contains the progress of
// the rules at the object that contains the member.
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

// roleOf returns the role of a member's value, which depends on the name of the member and on the role at of the
// object that contains it.
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
