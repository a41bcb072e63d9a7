package jsonscan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

func TestObjectSkipsUnreadMembers(t *testing.T) {
	text := ` { "a" : {"deep":[1,{"x":"}"}]} , "b\u0041" : "v\n" , "c":[ true ,null, -1.5e+3 ] , "d":{} } `
	c := jsonscan.NewCursor([]byte(text))
	var keys []string
	var value, number string
	err := c.Object(func(key []byte) error {
		keys = append(keys, string(key))
		switch string(key) {
		case "bA":
			s, err := c.Text()
			value = s
			return err
		case "c":
			return c.Array(func(i int) error {
				if i != 2 {
					return nil
				}
				raw, err := c.Value()
				number = string(raw)
				return err
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.End(); err != nil {
		t.Error(err)
	}
	if got, want := strings.Join(keys, " "), "a bA c d"; got != want {
		t.Errorf("keys: got %q, want %q", got, want)
	}
	if value != "v\n" || number != "-1.5e+3" {
		t.Errorf("got string %q and number %q", value, number)
	}
}

// If the function returns true for a member name in a value, ValueWithout neither reads the value nor moves the cursor.
func TestValueWithoutStopsAtExcludedMembers(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":{"b":[{"c":"wanted"}]}}`: true, `["wanted"]`: true, `7`: true, `{}`: true,
		`{"wanted":1}`: false, `{"a":[[{"wanted":1}]]}`: false, `{"a":1,"w\u0061nted":1}`: false, `{"a\n":1}`: false,
	} {
		t.Run(text, func(t *testing.T) {
			c := jsonscan.NewCursor([]byte(text))
			value, ok, err := c.ValueWithout(func(name []byte) bool { return string(name) == "wanted" })
			if err != nil || ok != want || ok && string(value) != text {
				t.Errorf("got %s, %t, error %v; want %t", value, ok, err, want)
			}
			if !ok {
				err = c.Skip()
			}
			if err := errors.Join(err, c.End()); err != nil {
				t.Errorf("rest of the text: got error %v", err)
			}
		})
	}
	c := jsonscan.NewCursor([]byte(`{"a":{"b"}}`))
	if value, ok, err := c.ValueWithout(func([]byte) bool { return false }); err == nil {
		t.Errorf("ValueWithout with invalid JSON: got %s, %t, want an error", value, ok)
	}
}

func TestErrStopEndsScanOfObject(t *testing.T) {
	c := jsonscan.NewCursor([]byte(`{"a":1,"b":`))
	err := c.Object(func([]byte) error { return jsonscan.ErrStop })
	if !errors.Is(err, jsonscan.ErrStop) {
		t.Errorf("got %v, want ErrStop", err)
	}
}

func TestErrorsContainPosition(t *testing.T) {
	for text, want := range map[string]string{
		`{"a" 1}`:      `byte 5: unexpected '1', want ':'`,
		`[1 2]`:        `byte 3: unexpected '2', want ',' or ']'`,
		`{"a":`:        `byte 5: unexpected end of the text, want a value`,
		`"abc`:         `byte 4: unexpected end of the text, want the end of a string`,
		"\"a\x01\"":    `byte 2: control character in a string`,
		`"\x"`:         `byte 1: invalid escape`,
		`{"a":1,}`:     `byte 7: unexpected '}', want the name of a member`,
		`[1,]`:         `byte 3: unexpected ']', want a value`,
		`{"a":tru}`:    `byte 5: unexpected 't', want a value`,
		`{"n":01}`:     `byte 6: unexpected '1', want ',' or '}'`,
		`{"n":-}`:      `byte 6: unexpected '}', want a digit`,
		`{"n":1.}`:     `byte 7: unexpected '}', want a digit`,
		`{{"a":1}:"b"`: `byte 1: unexpected '{', want the name of a member`,
	} {
		t.Run(text, func(t *testing.T) {
			if err := jsonscan.NewCursor([]byte(text)).Skip(); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// Invariant: I17.
func TestDepthIsBounded(t *testing.T) {
	for _, nest := range []string{"[", `{"a":`} {
		t.Run(nest, func(t *testing.T) {
			text := []byte(strings.Repeat(nest, 3*jsonscan.MaxDepth))
			if err := jsonscan.NewCursor(text).Skip(); err == nil || !strings.Contains(err.Error(), "nested deeper") {
				t.Errorf("got error %v, want nested deeper", err)
			}
		})
	}
}

func TestAppendStringIsJSON(t *testing.T) {
	for _, s := range []string{"", "plain", "a\"b\\c", "é\x00\x1f", "<script>&", "\xff", "\u2028"} {
		t.Run(fmt.Sprintf("%q", s), func(t *testing.T) {
			var decoded string
			if err := json.Unmarshal(jsonscan.AppendString(nil, s), &decoded); err != nil {
				t.Errorf("got error %v", err)
			}
			if want := strings.ToValidUTF8(s, "\ufffd"); decoded != want {
				t.Errorf("got %q, want %q", decoded, want)
			}
		})
	}
}

// Skip checks strings eight bytes at a time. The position of a byte must not matter in these eight bytes.
func TestEveryByteAtEveryPosition(t *testing.T) {
	for position := range 18 {
		for b := range 256 {
			text := []byte("[\"" + strings.Repeat("a\x80", 10) + "\",1]")
			text[2+position] = byte(b)
			c := jsonscan.NewCursor(text)
			err := c.Skip()
			if err == nil {
				err = c.End()
			}
			if want := json.Valid(text); (err == nil) != want {
				t.Errorf("%q: got error %v, but json.Valid returns %v", text, err, want)
			}
		}
	}
}

func readAll(c *jsonscan.Cursor) error {
	switch c.Peek() {
	case '{':
		return c.Object(func(key []byte) error {
			if c.Peek(); len(key)%2 == 1 {
				return nil
			}
			return readAll(c)
		})
	case '[':
		return c.Array(func(int) error { return readAll(c) })
	}
	return c.Skip()
}

// Invariant: I17. The JSON scanner accepts exactly the texts that `encoding/json` accepts. It has the same maximum
// depth of nesting. Its running time is proportional to the length of the text.
func FuzzScannerAcceptsSameTextsAsEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `{"a":[1,2,{"b":null}]}`, `"\ud800"`, `-0.1e-7`, ` [ ] `, `{"a"::1}`, `[,]`, `nul`, "\"\x7f\"",
		`{"a":}`, `:`, `{":":":"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want := json.Valid(data)
		for name, read := range map[string]func(*jsonscan.Cursor) error{"Skip": (*jsonscan.Cursor).Skip, "walk": readAll} {
			c := jsonscan.NewCursor(data)
			err := read(c)
			if err == nil {
				err = c.End()
			}
			if got := err == nil; got != want {
				t.Errorf("%s(%q): got error %v, but json.Valid returns %v", name, data, err, want)
			}
		}
	})
}
