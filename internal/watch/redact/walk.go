package redact

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"glasshouse/internal/watch/rawjson"
)

// walker redacts one object in one pass over its text. Of each value on the way
// it knows how far which rules have come; where none has any way to go, the text
// is copied as it is.
type walker struct {
	rules []Rule
	mask  func(out []byte, path string, value []byte) []byte
	wary  bool // Annotations that may hold a copy of the object are masked, whoever made them.

	live    []position // Of the values on the way, the innermost last.
	path    []byte     // Of the value that is walked, as a JSON Pointer.
	masked  []string
	values  [][]byte // What stood where, of the text that is walked.
	managed []byte
}

// position is how far a rule has come: its next step.
type position struct{ rule, step int }

// place is what a value is to every object.
type place int

const (
	elsewhere   place = iota
	root              // The object,
	metadata          // its metadata,
	annotations       // the annotations there,
	annotation        // and one of them.
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

// value appends the value at the cursor; from is where the positions of it begin.
func (w *walker) value(out []byte, c *rawjson.Cursor, from int, at place) ([]byte, error) {
	kind := c.Peek()
	for _, p := range w.live[from:] {
		if w.rules[p.rule].masksWhole(p.step, kind) {
			return w.maskAt(out, c)
		}
	}
	if at == annotation {
		if ahead := *c; w.wary && kind == '"' {
			if text, err := ahead.Text(); err != nil || mayBeCopy(text) {
				return w.maskAt(out, c)
			}
		}
		at = elsewhere
	}
	switch {
	case at != elsewhere && kind != '{': // It holds nothing that could be kept.
		return append(out, "null"...), c.Skip()
	case kind == '{' && (at != elsewhere || from < len(w.live)):
		return w.object(out, c, from, at)
	case kind == '[' && from < len(w.live):
		return w.array(out, c, from)
	}
	value, err := c.Value()
	return append(out, value...), err
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

// isCopy reports an annotation in which a tool keeps the whole of what it applied, as
// kubectl does in LastApplied: kapp, Rancher, KubeVela and what is made with
// k8s-objectmatcher, and a DeploymentConfig's in what came of it.
func isCopy(key []byte) bool {
	switch string(key) {
	case LastApplied, "kapp.k14s.io/original", "objectset.rio.cattle.io/applied", "openshift.io/encoded-deployment-config":
		return true
	}
	return bytes.HasSuffix(key, []byte("/last-applied")) || bytes.HasSuffix(key, []byte("/last-applied-configuration"))
}

// mayBeCopy reports an annotation's text that may have an object in it: JSON, also in
// base64, whatever space is in it, YAML of one, or what is compressed.
func mayBeCopy(text string) bool {
	text = strings.TrimSpace(text)
	for _, begins := range []string{"{", "[", "ew", "ey", "Ww", "Wy", "W3", "H4sI", "UEsDB", "KLUv"} {
		if strings.HasPrefix(text, begins) {
			return true
		}
	}
	return strings.Contains(text, "apiVersion")
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
		case at == annotations && isCopy(key):
			return c.Skip()
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(rawjson.AppendString(out, key), ':')
		to, length := len(w.live), len(w.path)
		w.enter(from, to, key, c.Peek())
		w.path = appendPointer(w.path, key)
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
		w.path = strconv.AppendInt(append(w.path, '/'), int64(index), 10)
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
	switch {
	case at == root && string(key) == "metadata":
		return metadata
	case at == metadata && string(key) == "annotations":
		return annotations
	case at == annotations:
		return annotation
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
