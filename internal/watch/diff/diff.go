// Package diff compares two JSON documents and returns an RFC 6902 patch with the operations add, remove and replace.
//
// It ignores white space and the order of members. It compares numbers and strings as text, so 1 and 1.0 differ. A
// patch is never longer than one that replaces the complete document. Parts whose bytes are equal are not parsed.
package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// An Op is one operation of a decoded patch. The field Value is empty if the operation is "remove".
type Op struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Patch returns the patch that changes the document before into the document after. An error names the invalid document
// and the position of the fault in it.
func Patch(before, after []byte) ([]byte, error) {
	patch, _, err := compare(before, after, false)
	return patch, err
}

const maxFormer = 256

// Compare is like Patch, and also returns the values that the patch replaces or removes. former is a JSON object with
// these values, such as {"0":"Pending"}. Each key is the index of an operation. Values of more than 256 bytes are
// omitted. If no value remains, former is nil.
func Compare(before, after []byte) (patch, former []byte, err error) {
	return compare(before, after, true)
}

func compare(before, after []byte, withFormer bool) (patch, former []byte, err error) {
	a, err := document(before, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("read the old document: %w", err)
	}
	b, err := document(after, &a)
	if err != nil {
		return nil, nil, fmt.Errorf("read the new document: %w", err)
	}
	d := differ{written: written{out: []byte{'['}}, withFormer: withFormer}
	d.value(&a, &b)
	if last := len(d.out) - 1; d.out[last] == ',' {
		d.out = d.out[:last]
	}
	if last := len(d.former) - 1; last > 0 {
		former = append(d.former[:last], '}')
	}
	return append(d.out, ']'), former, nil
}

// A differ writes the operations of a patch. If one operation that replaces a complete value is shorter than the
// operations inside this value, the differ writes only this operation.
type differ struct {
	written
	withFormer bool
	path       []byte // JSON Pointer to the current value, escaped for use in a JSON string
}

type written struct {
	out    []byte
	ops    int
	former []byte // the returned JSON object, with a comma at its end instead of a brace
}

func (d *differ) value(a, b *node) {
	if bytes.Equal(a.text, b.text) {
		return
	}
	if a.text[0] != b.text[0] || !a.parse(nil) || !b.parse(a) {
		d.op("replace", a.text, b.text)
		return
	}
	saved := d.written
	limit := len(saved.out) + len(`{"op":"replace","path":"","value":},`) + len(d.path) + len(b.text)
	if a.text[0] == '{' {
		d.members(a.members(), b.members(), limit)
	} else {
		d.elements(a.items, b.items, limit)
	}
	if len(d.out) > limit {
		d.written = written{d.out[:len(saved.out)], saved.ops, d.former[:len(saved.former)]}
		d.op("replace", a.text, b.text)
	}
}

// members compares the members of two objects. It stops when the patch is longer than limit, because the caller then
// replaces the complete object. This also limits the operations that a hostile document can cause.
func (d *differ) members(as, bs []node, limit int) {
	for len(as)+len(bs) > 0 && len(d.out) <= limit {
		switch {
		case len(bs) == 0 || len(as) > 0 && bytes.Compare(as[0].key, bs[0].key) < 0:
			d.step(as[0].key, &as[0], nil)
			as = as[1:]
		case len(as) == 0 || bytes.Compare(as[0].key, bs[0].key) > 0:
			d.step(bs[0].key, nil, &bs[0])
			bs = bs[1:]
		default:
			d.step(as[0].key, &as[0], &bs[0])
			as, bs = as[1:], bs[1:]
		}
	}
}

// elements compares two arrays from left to right, until the patch is longer than limit. The index in an operation is
// the position in the array after all earlier operations.
func (d *differ) elements(as, bs []node, limit int) {
	at := 0
	for len(as) > 0 && len(bs) > 0 && equal(&as[0], &bs[0]) {
		as, bs = as[1:], bs[1:]
		at++
	}
	for len(as) > 0 && len(bs) > 0 && equal(&as[len(as)-1], &bs[len(bs)-1]) {
		as, bs = as[:len(as)-1], bs[:len(bs)-1]
	}
	i, j := 0, 0
	for _, next := range append(align(as, bs), pair{len(as), len(bs)}) {
		for i <= next.a && j <= next.b && i+j < len(as)+len(bs) && len(d.out) <= limit {
			var digits [20]byte
			index := strconv.AppendInt(digits[:0], int64(at), 10)
			switch {
			case i < next.a && j == next.b:
				d.step(index, &as[i], nil)
				i++
				continue
			case i == next.a && j < next.b:
				d.step(index, nil, &bs[j])
			default:
				d.step(index, &as[i], &bs[j])
				i++
			}
			j++
			at++
		}
	}
}

func (d *differ) step(key []byte, a, b *node) {
	if a != nil && b != nil && bytes.Equal(a.text, b.text) {
		return
	}
	parent := len(d.path)
	d.path = appendToken(d.path, key)
	switch {
	case a == nil:
		d.op("add", nil, b.text)
	case b == nil:
		d.op("remove", a.text, nil)
	default:
		d.value(a, b)
	}
	d.path = d.path[:parent]
}

func (d *differ) op(name string, before, value []byte) {
	if d.withFormer && len(before) > 0 && len(before) <= maxFormer {
		d.former = append(d.former, `{"`[min(len(d.former), 1):]...)
		d.former = strconv.AppendInt(d.former, int64(d.ops), 10)
		d.former = append(append(append(d.former, `":`...), before...), ',')
	}
	d.ops++
	d.out = append(d.out, `{"op":"`...)
	d.out = append(d.out, name...)
	d.out = append(d.out, `","path":"`...)
	d.out = append(d.out, d.path...)
	d.out = append(d.out, '"')
	if value != nil {
		d.out = append(d.out, `,"value":`...)
		d.out = append(d.out, value...)
	}
	d.out = append(d.out, '}', ',')
}

// appendToken appends a key to a JSON Pointer. It escapes the key for the pointer, and then for a JSON string.
func appendToken(path, key []byte) []byte {
	if bytes.ContainsAny(key, "~/") {
		key = bytes.ReplaceAll(key, []byte("~"), []byte("~0"))
		key = bytes.ReplaceAll(key, []byte("/"), []byte("~1"))
	}
	slash := len(path)
	path = jsonscan.AppendString(path, string(key))
	path[slash] = '/'
	return path[:len(path)-1]
}
