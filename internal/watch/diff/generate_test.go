package diff_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A generator makes random JSON documents. It does not modify its inputs, because several versions of a document can
// share parts.
type generator struct{ *rand.Rand }

func pick[T any](g generator, options ...T) T { return options[g.IntN(len(options))] }

func (g generator) key() string {
	return pick(g, "a", "b", "name", "type", "ip", "uid", "", "/", "~", "~1", "a/b", "m~n", `"`, `\`, "é", "\u2028",
		"<&>", "\x01", "-", "0", "1")
}

func (g generator) scalar() any {
	return pick[any](g, nil, true, false, "", "x", "a longer text, with a \"quote\"", "é\n\u2028", "[1,2]",
		json.Number("0"), json.Number("1"), json.Number("12"), json.Number("1.0"),
		json.Number("9007199254740992"), json.Number("9007199254740993"), json.Number("-1e400"),
		strconv.Itoa(g.IntN(1000)))
}

func (g generator) value(depth int) any {
	switch n := g.IntN(10); {
	case depth == 0 || n < 3:
		return g.scalar()
	case n < 6:
		elements := make([]any, g.IntN(6))
		for i := range elements {
			elements[i] = g.value(depth - 1)
		}
		return elements
	case n == 6:
		elements := make([]any, g.IntN(6))
		key := pick(g, "name", "type", "ip", "mountPath")
		for i := range elements {
			elements[i] = map[string]any{key: strconv.Itoa(g.IntN(8)), g.key(): g.value(depth - 1)}
		}
		return elements
	}
	members := map[string]any{}
	for range g.IntN(6) {
		members[g.key()] = g.value(depth - 1)
	}
	return members
}

func (g generator) mutate(v any) any {
	switch v := v.(type) {
	case map[string]any:
		changed := maps.Clone(v)
		keys := slices.Sorted(maps.Keys(v))
		switch n := g.IntN(10); {
		case n == 0 || len(keys) == 0:
			changed[g.key()] = g.value(2)
		case n == 1:
			delete(changed, pick(g, keys...))
		default:
			k := pick(g, keys...)
			changed[k] = g.mutate(v[k])
		}
		return changed
	case []any:
		changed := slices.Clone(v)
		switch n := g.IntN(10); {
		case n == 0 || len(v) == 0:
			return slices.Insert(changed, g.IntN(len(v)+1), g.value(2))
		case n == 1:
			return slices.Insert(changed, g.IntN(len(v)+1), pick(g, v...))
		case n == 2:
			at := g.IntN(len(v))
			return slices.Delete(changed, at, at+1)
		case n == 3:
			g.Shuffle(len(v), func(i, j int) { changed[i], changed[j] = changed[j], changed[i] })
		default:
			at := g.IntN(len(v))
			changed[at] = g.mutate(v[at])
		}
		return changed
	}
	return pick(g, g.scalar(), g.value(2))
}

// encode encodes a document as JSON with members sorted by name. If shuffled is true, order and white space are random,
// and some members occur twice.
func (g generator) encode(v any, shuffled bool) []byte {
	var b bytes.Buffer
	g.write(&b, v, shuffled)
	return b.Bytes()
}

func (g generator) write(b *bytes.Buffer, v any, shuffled bool) {
	space := func() {
		if shuffled {
			b.WriteString(pick(g, "", "", "", " ", "\n\t", "\r\n  "))
		}
	}
	space()
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		space()
		keys := slices.Sorted(maps.Keys(v))
		if shuffled {
			g.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		}
		for i, k := range keys {
			if shuffled && g.IntN(8) == 0 {
				g.write(b, k, true)
				b.WriteString(`:{"overwritten":[]},`)
			}
			g.write(b, k, shuffled)
			b.WriteByte(':')
			g.write(b, v[k], shuffled)
			b.WriteString(strings.Repeat(",", min(1, len(keys)-1-i)))
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		space()
		for i, child := range v {
			g.write(b, child, shuffled)
			b.WriteString(strings.Repeat(",", min(1, len(v)-1-i)))
		}
		b.WriteByte(']')
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		b.Write(text)
	}
	space()
}
