package diff_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/diff"
)

func decode(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %.200q: %v", text, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("decode %.200q: trailing data: %v", text, err)
	}
	return v
}

// apply applies a patch to a document. It does not use evanphx/json-patch, which loses members with an empty name and
// refuses scalar documents.
func apply(t *testing.T, document any, patch []byte) any {
	t.Helper()
	var ops []diff.Op
	if err := json.Unmarshal(patch, &ops); err != nil {
		t.Fatalf("patch %.200q: %v", patch, err)
	}
	for _, op := range ops {
		var value any
		if op.Op != "remove" {
			value = decode(t, op.Value)
		}
		tokens := strings.Split(op.Path, "/")
		if tokens[0] != "" {
			t.Fatalf("path %q is not a JSON pointer", op.Path)
		}
		result, err := applyOp(document, tokens[1:], op.Op, value)
		if err != nil {
			t.Fatalf("%s %s: %v\npatch: %s", op.Op, op.Path, err, patch)
		}
		document = result
	}
	return document
}

func applyOp(v any, tokens []string, op string, value any) (any, error) {
	if len(tokens) == 0 {
		if op == "remove" {
			return nil, errors.New("the root cannot be removed")
		}
		return value, nil
	}
	last := len(tokens) == 1
	switch v := v.(type) {
	case map[string]any:
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[0])
		child, ok := v[key]
		if !ok && (!last || op != "add") {
			return nil, fmt.Errorf("no member %q", key)
		}
		if last && op == "remove" {
			delete(v, key)
			return v, nil
		}
		child, err := applyOp(child, tokens[1:], op, value)
		v[key] = child
		return v, err
	case []any:
		i, err := strconv.Atoi(tokens[0])
		if err != nil || tokens[0] != strconv.Itoa(i) || i < 0 || i > len(v) || i == len(v) && (!last || op != "add") {
			return nil, fmt.Errorf("no element %q in a list of %d", tokens[0], len(v))
		}
		switch {
		case last && op == "add":
			return slices.Insert(v, i, value), nil
		case last && op == "remove":
			return slices.Delete(v, i, i+1), nil
		}
		v[i], err = applyOp(v[i], tokens[1:], op, value)
		return v, err
	}
	return nil, fmt.Errorf("cannot resolve %q in a %T", tokens[0], v)
}

func valueAt(t *testing.T, v any, path string) any {
	t.Helper()
	for _, token := range strings.Split(path, "/")[1:] {
		switch container := v.(type) {
		case map[string]any:
			v = container[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil {
				t.Fatal(err)
			}
			v = container[i]
		default:
			t.Fatalf("cannot resolve %q in a %T", token, v)
		}
	}
	return v
}
