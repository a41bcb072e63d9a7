package diff_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/diff"
)

// Invariant: I3. A patch transforms the old version of an object exactly into the new version. The authors of a patch's
// operations are those that a real API server records in managedFields. If one update of a row combines changes of
// cells by several field managers, the update has no author. Cached objects contain no managedFields.
func FuzzPatchTransformsOldIntoNewObject(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a/b":1,"m~n":2,"~1":3,"":4}`, `{"a/b":2,"m~n":3,"~1":[],"":{"":null}}`},
		{`[1,2,3,4]`, `[0,1,3,4,4]`},
		{`[{"name":"a","n":1},{"name":"b","n":1}]`, `[{"name":"b","n":2},{"name":"c"},{"name":"a","n":1}]`},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`},
		{`null`, `{}`},
		{`{}`, `[]`},
		{`{"a":null}`, `{}`},
		{`{"a":{}}`, `{"a":{"b":{}}}`},
		{`{"é":"\u00e9","\u00e9":"ü"}`, `{"\u00e9":"é"}`},
		{"{\"\xff\":1,\"\xfe\":2}", "{\"\xff\":2,\"x\":\"\xff\"}"},
		{`{"\ud800":1,"a":1,"a":2}`, `{"\ufffd":1,"a":2,"a":3}`},
		{" [ 1 , { \"a\" : [ ] } ]\n", `[1,{"a":[]}]`},
		{`{"a":1,}`, `[1 2]`},
		{`{`, `"`},
		{``, `nul`},
		{`[[[[[[1,2]]]]]]`, `[[[[[[1,3]]]]]]`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if !json.Valid(before) || !json.Valid(after) {
			if patch, err := diff.Patch(before, after); err == nil || patch != nil {
				t.Fatalf("invalid JSON: got %s, error %v\nbefore %q\nafter  %q", patch, err, before, after)
			}
			return
		}
		patch := check(t, before, after)
		if same := reflect.DeepEqual(decode(t, before), decode(t, after)); !same && string(patch) == "[]" {
			t.Fatalf("got no operations for different documents\nbefore %q\nafter  %q", before, after)
		}
	})
}
