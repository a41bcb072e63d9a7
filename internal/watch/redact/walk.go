package redact

import (
	"slices"
	"strconv"

	"glasshouse/internal/watch/rawjson"
)

// walker redacts one object in one pass over its text. For each value on the way it knows how far each rule has
// come. A value is copied as it is if no rule can apply in it, and it has no annotations or managedFields.
type walker struct {
	rules []Rule
	mask  func(out []byte, path string, value []byte) []byte

	live    []position // Of the values on the way, the innermost last.
	path    []byte     // Of the value that is walked, as a JSON Pointer.
	key     []byte     // Of the same, nil in a list.
	depth   int        // Of the same.
	masked  []string
	values  [][]byte // The values that were masked, in the order of masked.
	dropped []string // The annotations that were dropped, as JSON Pointers.
	managed []byte
}

// position is how far a rule has come: its next step.
type position struct{ rule, step int }

// place is what a value is to every object.
type place int

const (
	elsewhere        place = iota
	root                   // The object,
	metadata               // its metadata,
	annotations            // the annotations there,
	innerMetadata          // the metadata of an object or template within it,
	innerAnnotations       // and anything else called annotations.
)

// walk appends the object at the cursor without what must not be kept. What is no
// object becomes null.
func (w *walker) walk(dst []byte, c *rawjson.Cursor, of *subject) ([]byte, error) {
	if c.Peek() != '{' {
		return append(dst, "null"...), c.Skip()
	}
	for n := range w.rules {
		if !w.rules[n].helm || of.helm {
			w.live = append(w.live, position{n, 0})
		}
	}
	return w.value(dst, c, 0, root)
}

// maxLooks is the depth down to which a value is searched before it is walked. Deeper ones are walked without
// that: each level would search the same text again.
const maxLooks = 8

// value appends the value at the cursor; from is where the positions of it begin.
func (w *walker) value(out []byte, c *rawjson.Cursor, from int, at place) ([]byte, error) {
	kind := c.Peek()
	if (at == metadata || at == annotations) && kind != '{' {
		return append(out, "null"...), c.Skip() // It contains nothing that could be kept.
	}
	for _, p := range w.live[from:] {
		if r := &w.rules[p.rule]; r.masksWhole(p.step, kind) && !w.keeps(r, c) {
			return w.maskAt(out, c)
		}
	}
	if kind != '{' && kind != '[' {
		value, err := c.Value()
		return append(out, value...), err
	}
	if at == elsewhere && from == len(w.live) && w.depth <= maxLooks {
		if value, ok, err := c.ValueWithout(isOfMetadata); ok || err != nil {
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

// keeps reports whether the value at the cursor stays, although the rule leads to it.
func (w *walker) keeps(r *Rule, c *rawjson.Cursor) bool {
	if r.keeps == nil {
		return false
	}
	ahead := *c
	value, err := ahead.Value()
	return err == nil && r.keeps(w.key, value)
}

// isOfMetadata reports the names of members that are dropped in every object, or contain some that are.
func isOfMetadata(name []byte) bool {
	return string(name) == "annotations" || string(name) == "managedFields"
}

// maskAt masks the value at the cursor.
func (w *walker) maskAt(out []byte, c *rawjson.Cursor) ([]byte, error) {
	value, err := c.Value()
	if err != nil {
		return out, err
	}
	path := string(w.path)
	w.masked, w.values = append(w.masked, path), append(w.values, value)
	return w.mask(out, path, value), nil
}

// masksWhole reports whether a value is masked whole, by what it begins with:
// where the rule leads to it, and where it is not of the type that the rule goes
// on through. A null is no value.
func (r *Rule) masksWhole(next int, kind byte) bool {
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

func (w *walker) object(out []byte, c *rawjson.Cursor, from int, at place) ([]byte, error) {
	out = append(out, '{')
	first := true
	err := c.Object(func(key []byte) error {
		inner := inside(at, key)
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
		out = append(rawjson.AppendString(out, key), ':')
		to, length := len(w.live), len(w.path)
		w.enter(from, to, key, c.Peek())
		w.path, w.key = appendPointer(w.path, key), key
		var err error
		out, err = w.value(out, c, to, inner)
		w.live, w.path = w.live[:to], w.path[:length]
		return err
	})
	return append(out, '}'), err
}

func (w *walker) array(out []byte, c *rawjson.Cursor, from int) ([]byte, error) {
	out = append(out, '[')
	err := c.Array(func(index int) error {
		if index > 0 {
			out = append(out, ',')
		}
		to, length := len(w.live), len(w.path)
		for _, p := range w.live[from:to] {
			switch w.rules[p.rule].steps[p.step].kind {
			case elements:
				w.push(to, position{p.rule, p.step + 1})
			case anywhere:
				w.push(to, p)
			case member, members: // The array is masked whole.
			}
		}
		w.path, w.key = strconv.AppendInt(append(w.path, '/'), int64(index), 10), nil
		var err error
		out, err = w.value(out, c, to, elsewhere)
		w.live, w.path = w.live[:to], w.path[:length]
		return err
	})
	return append(out, ']'), err
}

// enter pushes the positions of the member of a name, whose value begins with kind.
func (w *walker) enter(from, to int, key []byte, kind byte) {
	for _, p := range w.live[from:to] {
		s := &w.rules[p.rule].steps[p.step]
		on, stays := s.takes(string(key))
		if on && (!s.lists || kind == '{' || kind == '[') {
			w.push(to, position{p.rule, p.step + 1})
		}
		if stays {
			w.push(to, p)
		}
	}
}

// push adds a position to those from a place on, once.
func (w *walker) push(from int, p position) {
	if !slices.Contains(w.live[from:], p) {
		w.live = append(w.live, p)
	}
}

// inside is the place of a member.
func inside(at place, key []byte) place {
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
	return elsewhere
}

// appendPointer appends a name as a part of a JSON Pointer.
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
