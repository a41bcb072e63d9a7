package diff_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/diff"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

func TestPatchTransformsBeforeIntoAfter(t *testing.T) {
	long := `"a text that is long enough to make ops inside shorter"`
	for _, test := range []struct{ name, before, after, want string }{
		{"equal", `{"a":[1,{"b":null}]}`, `{"a":[1,{"b":null}]}`, `[]`},
		{"equal except whitespace", "{ \"a\" : [ 1 , { } ] }\n", `{"a":[1,{}]}`, `[]`},
		{"equal except the order of members", `{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`, `[]`},
		{
			"members in the order of keys", `{"x":[` + long + `,` + long + `],"c":1,"b":1}`,
			`{"c":2,"a":1,"x":[` + long + `,` + long + `]}`,
			`[{"op":"add","path":"/a","value":1},{"op":"remove","path":"/b"},{"op":"replace","path":"/c","value":2}]`,
		},
		{"root of another type", `{"a":1}`, ` [1] `, `[{"op":"replace","path":"","value":[1]}]`},
		{"scalar root", `1`, `null`, `[{"op":"replace","path":"","value":null}]`},
		{"null is not absent", `{"a":null,"x":` + long + `}`, `{"x":` + long + `}`, `[{"op":"remove","path":"/a"}]`},
		{
			"keys are escaped", `{"x":` + long + `}`, `{"x":` + long + `,"a/b~c~1\"\n":1}`,
			`[{"op":"add","path":"/a~1b~0c~01\"\n","value":1}]`,
		},
		{
			"empty key within empty key", `{"":{"":1,"x":` + long + `}}`, `{"":{"":2,"x":` + long + `}}`,
			`[{"op":"replace","path":"//","value":2}]`,
		},
		{
			"unicode key", `{"é\u00e9":1,"x":` + long + `}`, `{"éé":2,"x":` + long + `}`,
			`[{"op":"replace","path":"/éé","value":2}]`,
		},
		{
			"keys with invalid UTF-8", "{\"\xff\":1,\"\xfe\":2,\"x\":" + long + "}", "{\"\xff\":3,\"x\":" + long + "}",
			`[{"op":"replace","path":"/` + "\ufffd" + `","value":3}]`,
		},
		{
			"same value under another key", `[[],{"a":1,"x":[` + long + `,` + long + `]}]`,
			`[[],{"b":1,"x":[` + long + `,` + long + `]}]`,
			`[{"op":"remove","path":"/1/a"},{"op":"add","path":"/1/b","value":1}]`,
		},
		{
			"number above 2^53", `{"n":9007199254740993,"x":` + long + `}`, `{"n":9007199254740992,"x":` + long + `}`,
			`[{"op":"replace","path":"/n","value":9007199254740992}]`,
		},
		{"1 and 1.0 differ", `1`, `1.0`, `[{"op":"replace","path":"","value":1.0}]`},
		{
			"number with a common prefix", `[1,12,` + long + `]`, `[1,123,` + long + `]`,
			`[{"op":"replace","path":"/1","value":123}]`,
		},
		{"the last of two members counts", `{"a":1,"a":2,"x":` + long + `}`, `{"a":3,"a":2,"x":` + long + `}`, `[]`},
		{
			"short object is replaced", `{"x":` + long + `,"o":{"a":1,"b":2}}`, `{"x":` + long + `,"o":{"a":3,"b":4}}`,
			`[{"op":"replace","path":"/o","value":{"a":3,"b":4}}]`,
		},
		{"insert at the head", `[` + long + `,2,3]`, `[0,` + long + `,2,3]`, `[{"op":"add","path":"/0","value":0}]`},
		{"insert in the middle", `[` + long + `,2,3]`, `[` + long + `,2,0,3]`, `[{"op":"add","path":"/2","value":0}]`},
		{"insert at the end", `[` + long + `]`, `[` + long + `,0]`, `[{"op":"add","path":"/1","value":0}]`},
		{
			"insert an equal neighbor", `[1,1,` + long + `]`, `[1,1,1,` + long + `]`,
			`[{"op":"add","path":"/2","value":1}]`,
		},
		{"remove at the head", `[1,` + long + `,3]`, `[` + long + `,3]`, `[{"op":"remove","path":"/0"}]`},
		{"empty an array", `{"a":[1,` + long + `]}`, `{"a":[]}`, `[{"op":"replace","path":"/a","value":[]}]`},
		{
			"two edits far apart", `[1,` + long + `,2,3,` + long + `,4]`, `[` + long + `,2,3,5,` + long + `,4]`,
			`[{"op":"remove","path":"/0"},{"op":"add","path":"/3","value":5}]`,
		},
		{
			"two elements swapped", `[1,3,` + long + `,2]`, `[2,3,` + long + `,1]`,
			`[{"op":"replace","path":"/0","value":2},{"op":"replace","path":"/3","value":1}]`,
		},
		{
			"keyed by type: change one, insert one",
			`[{"type":"A","status":"True","message":` + long + `},{"type":"B","status":"False","message":` + long +
				`}]`,
			`[{"type":"N","status":"True"},{"type":"A","status":"False","message":` + long +
				`},{"type":"B","status":"True","message":` + long + `}]`,
			`[{"op":"add","path":"/0","value":{"type":"N","status":"True"}},` +
				`{"op":"replace","path":"/1/status","value":"False"},` +
				`{"op":"replace","path":"/2/status","value":"True"}]`,
		},
		{
			"keyed by name: remove one, change the next",
			`[{"name":"a","value":` + long + `},{"name":"b","value":` + long + `,"n":1},{"name":"c","value":` + long +
				`}]`,
			`[{"name":"b","value":` + long + `,"n":2},{"name":"c","value":` + long + `}]`,
			`[{"op":"remove","path":"/0"},{"op":"replace","path":"/0/n","value":2}]`,
		},
		{
			"keyed by mountPath rather than by name",
			`[{"name":"v","mountPath":"/a","why":` + long + `},{"name":"v","mountPath":"/b","why":` + long + `,"n":1}]`,
			`[{"name":"v","mountPath":"/b","why":` + long + `,"n":2}]`,
			`[{"op":"remove","path":"/0"},{"op":"replace","path":"/0/n","value":2}]`,
		},
		{
			"keyed by two members",
			`[{"containerPort":53,"protocol":"UDP","why":` + long + `},{"containerPort":53,"protocol":"TCP","why":` +
				long + `}]`,
			`[{"containerPort":53,"protocol":"TCP","why":` + long + `,"name":"dns"}]`,
			`[{"op":"remove","path":"/0"},{"op":"add","path":"/0/name","value":"dns"}]`,
		},
		{
			"elements with keys, reordered and changed",
			`[{"name":"a","n":1},{"name":"b","x":` + long + `,"n":1}]`,
			`[{"name":"b","x":` + long + `,"n":2},{"name":"a","n":1}]`,
			`[{"op":"replace","path":"","value":[{"name":"b","x":` + long + `,"n":2},{"name":"a","n":1}]}]`,
		},
		{
			"elements without keys, by position", `[{"a":1,"x":` + long + `},{"a":2,"x":` + long + `}]`,
			`[{"a":3,"x":` + long + `},{"a":4,"x":` + long + `}]`,
			`[{"op":"replace","path":"/0/a","value":3},{"op":"replace","path":"/1/a","value":4}]`,
		},
		{
			"whitespace in values is kept", `{"x":` + long + `}`, `{"x":` + long + `, "o": { "a" : [1, 2] } }`,
			`[{"op":"add","path":"/o","value":{ "a" : [1, 2] }}]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := diff.Patch([]byte(test.before), []byte(test.after))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			if got, want := apply(t, decode(t, []byte(test.before)), got),
				decode(t, []byte(test.after)); !reflect.DeepEqual(got, want) {
				t.Errorf("applied: got %v, want %v", got, want)
			}
		})
	}
}

func TestErrorsNameTheDocument(t *testing.T) {
	nested := strings.Repeat("[", 3*jsonscan.MaxDepth)
	for _, test := range []struct{ name, before, after, want string }{
		{"before", `{"a":1,}`, `{}`, `read the old document: byte 7: unexpected '}', want the name of a member`},
		{"after", `{}`, `{"a" 1}`, `read the new document: byte 5: unexpected '1', want ':'`},
		{
			"after is a prefix of before", `["a","b"]`, `["a","b"`,
			`read the new document: byte 8: unexpected end of the text, want ',' or ']'`,
		},
		{"empty", ``, `{}`, `read the old document: byte 0: unexpected end of the text, want a value`},
		{"two documents", `{} {}`, `{}`, `read the old document: byte 3: unexpected '{', want the end`},
		{"trailing NUL", "{}\x00", `{}`, `read the old document: byte 2: unexpected '\x00', want the end`},
		{"too deep", nested, nested, `read the old document: byte 10000: nested deeper than 10000 levels`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := diff.Patch([]byte(test.before), []byte(test.after))
			if err == nil || err.Error() != test.want || got != nil {
				t.Errorf("got %q and %v, want %s", got, err, test.want)
			}
		})
	}
}

// Invariant: I43. The activity (the list of recent changes) has a maximum length, and shows since when it contains all
// changes. It requests no data until the user opens it. It neither starts nor prolongs a watch. A change contains the
// previous value of each changed field, if this value is short. To verify the changes, the WebSocket client of the
// tests reports each invalid message, and each row that differs from the expected row.
func TestCompareReturnsPreviousValues(t *testing.T) {
	long := strings.Repeat("x", 255)
	for _, test := range []struct{ before, after, former string }{
		{
			`{"a":1,"b":"Pending","c":null,"d":{"e":[2]},"long":"` + long + `"}`,
			`{"a":1,"b":"Running","d":{"e":[3]},"long":"` + long + `"}`, `{"0":"Pending","1":null,"2":2}`,
		},
		{`{"a":[1,2,3],"long":"` + long + `"}`, `{"a":[1,3],"long":"` + long + `"}`, `{"0":2}`},
		{`{"a":"` + long[:254] + `"}`, `{"a":""}`, `{"0":"` + long[:254] + `"}`},
		{`{"a":"` + long + `","b":1,"c":"` + long + `"}`, `{"a":"` + long + `s","b":2,"c":"` + long + `"}`, `{"1":1}`},
		// One operation that replaces the parent is shorter than two operations that replace its members.
		{
			`{"a":{"x":1,"y":2},"long":"` + long + `"}`, `{"a":{"x":2,"y":1},"long":"` + long + `"}`,
			`{"0":{"x":1,"y":2}}`,
		},
		{`{"a":1}`, `{"a":1,"b":2}`, ``},
		{`1`, `2`, `{"0":1}`},
		{`{}`, `{}`, ``},
	} {
		t.Run(fmt.Sprintf("%.40s", test.former), func(t *testing.T) {
			if _, former, err := diff.Compare([]byte(test.before), []byte(test.after)); err != nil ||
				string(former) != test.former {
				t.Errorf("Compare(%s, %s): got former values %s, error %v, want %s",
					test.before, test.after, former, err, test.former)
			}
		})
	}
}

func TestPatchDecodesIntoOps(t *testing.T) {
	patch, err := diff.Patch([]byte(`{"a":1,"b~":2,"c":"long enough for ops of their own"}`),
		[]byte(`{"b~":null,"c":"long enough for ops of their own"}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []diff.Op
	if err := json.Unmarshal(patch, &got); err != nil {
		t.Fatal(err)
	}
	want := []diff.Op{{Op: "remove", Path: "/a"}, {Op: "replace", Path: "/b~0", Value: json.RawMessage("null")}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDeepDifferenceReplacesItsParent(t *testing.T) {
	nest := func(levels int, inner string) []byte {
		return []byte(strings.Repeat("[", levels) + inner + strings.Repeat("]", levels))
	}
	long := `"` + strings.Repeat("x", 1000) + `"`
	got, err := diff.Patch(nest(200, long+`,1`), nest(200, long+`, 1`))
	want := `[{"op":"replace","path":"` + strings.Repeat("/0", 100) + `","value":` + string(nest(100, long+`, 1`)) +
		`}]`
	if err != nil || string(got) != want {
		t.Errorf("got %.300s, error %v, want %.300s", got, err, want)
	}
	if got, err := diff.Patch(nest(99, long+`,1`), nest(99, long+`, 1`)); err != nil || string(got) != "[]" {
		t.Errorf("99 levels: got %.300s, error %v, want []", got, err)
	}
}

// Patch stops the comparison of two values when the operations for their differences are longer than one operation that
// replaces the value. Otherwise, 10,000 operations with paths of 10,000 bytes would use 100 MB.
func TestReplacedOpsDoNotAccumulate(t *testing.T) {
	var members strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&members, `"%d":1,`, i)
	}
	key := strings.Repeat("k", 10_000)
	for name, before := range map[string]string{
		"elements": `{"` + key + `":[` + strings.Repeat("1,", 10_000) + `1]}`,
		"members":  `{"` + key + `":{` + members.String() + `"x":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			after := strings.NewReplacer(":1", ":2", "1,", "2,").Replace(before)
			patch, err := diff.Patch([]byte(before), []byte(after))
			if err != nil || cap(patch) > 10*len(before) {
				t.Errorf("got a patch buffer of %d bytes, error %v, for a document of %d bytes", cap(patch), err, len(before))
			}
		})
	}
}
