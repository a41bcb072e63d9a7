package fieldmanager_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
)

func manager(name string, second int, fields string) string {
	return fmt.Sprintf(
		`{"manager":%q,"operation":"Update","apiVersion":"v1","time":"2026-11-21T10:00:%02dZ",`+
			`"fieldsType":"FieldsV1","fieldsV1":%s}`,
		name, second, fields,
	)
}

func patchOf(paths ...string) string {
	ops := make([]string, len(paths))
	for i, path := range paths {
		path, removed := strings.CutPrefix(path, "-")
		ops[i] = fmt.Sprintf(`{"op":"replace","path":%q,"value":0}`, path)
		if removed {
			ops[i] = fmt.Sprintf(`{"op":"remove","path":%q}`, path)
		}
	}
	return "[" + strings.Join(ops, ",") + "]"
}

// For each operation of a patch, Attribute finds the authors in the managedFields.
// Invariant: I15.
func TestOpsAreAttributedToFieldManagers(t *testing.T) {
	const (
		after = `{"metadata":{"labels":{"a":"1","b/c":"2","0":"3"}},"data":{"x~y":"1"},"spec":{"args":["p","q"],` +
			`"sum":[[1],[2]],"ports":[{"port":80,"protocol":"TCP"},{"port":80,"protocol":"UDP"},{"port":443}],` +
			`"set":["s","t"],"flags":[true,false]},"odd":[{"a":1,"b":{"c":2}}]}`
		previousSecond = 3
	)
	for _, test := range []struct {
		name     string
		managers []string
		patch    string
		want     string // The expected authors, newest first; "helm: 0 2" means that helm made the operations 0 and 2.
	}{
		{
			"owned member",
			[]string{manager("m", 4, `{"f:data":{"f:x~y":{}}}`), manager("n", 5, `{"f:spec":{"f:args":{}}}`)},
			patchOf("/data/x~0y", "/spec/args"), "n: 1; m: 0",
		},
		{
			"escaped key and numeric key",
			[]string{manager("m", 4, `{"f:metadata":{"f:labels":{"f:b/c":{},"f:0":{}}}}`)},
			patchOf("/metadata/labels/b~1c", "/metadata/labels/0"), "m: 0 1",
		},
		{
			"owner of an object owns its members",
			[]string{manager("m", 4, `{"f:data":{".":{},"f:x~y":{}}}`)},
			patchOf("/data"),
			"m: 0",
		},
		{"document", []string{manager("m", 4, `{"f:data":{"f:x~y":{}}}`), manager("none", 4, `{}`)}, patchOf(""), "m: 0"},
		{
			"members owned by several managers",
			[]string{
				manager("m", 4, `{"f:metadata":{"f:labels":{"f:a":{}}}}`),
				manager("n", 5, `{"f:metadata":{"f:labels":{"f:0":{}}}}`),
			},
			patchOf("/metadata/labels"), "n: 0; m: 0",
		},
		{
			"member of an older entry",
			[]string{
				manager("m", previousSecond, `{"f:metadata":{"f:labels":{"f:a":{}}}}`),
				manager("n", 5, `{"f:metadata":{"f:labels":{"f:0":{}}}}`),
			},
			patchOf("/metadata/labels"), "n: 0",
		},
		{
			"atomic list with an older entry",
			[]string{manager("m", previousSecond, `{"f:spec":{"f:args":{}}}`), manager("n", 5, `{"f:spec":{"f:args":{}}}`)},
			patchOf("/spec/args/1"), "n: 0",
		},
		{
			"closer owner with an older entry",
			[]string{manager("m", 5, `{"f:data":{".":{}}}`), manager("n", previousSecond, `{"f:data":{"f:x~y":{}}}`)},
			patchOf("/data/x~0y"), "n: 0",
		},
		{
			"all entries older than the update",
			[]string{
				manager("m", previousSecond, `{"f:data":{"f:x~y":{}}}`), manager("n", previousSecond-1, `{"f:data":{"f:x~y":{}}}`),
			},
			patchOf("/data/x~0y"), "m: 0; n: 0",
		},
		{
			"element of an atomic list",
			[]string{manager("m", 4, `{"f:spec":{"f:args":{}}}`)},
			patchOf("/spec/args/1", "/spec/sum/1/0"), "m: 0 1",
		},
		{
			"ownership of the object but not of its members",
			[]string{manager("m", 5, `{"f:data":{".":{}}}`), manager("n", 4, `{"f:data":{"f:x~y":{}}}`)},
			patchOf("/data/x~0y"), "n: 0",
		},
		{
			"ownership of the object and of other members",
			[]string{manager("m", 4, `{"f:data":{".":{},"f:z":{}}}`), manager("n", 5, `{"f:spec":{}}`)},
			patchOf("/data/x~0y"), "n: 0",
		},
		{
			"list keys",
			[]string{
				manager("m", 4, `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}`),
				manager(
					"n", 5,
					`{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"UDP\"}":{"f:port":{}},`+
						`"k:{\"port\":443}":{}}}}`,
				),
			},
			patchOf("/spec/ports/0", "/spec/ports/1/port", "/spec/ports/2", "/spec/ports/0/port"), "n: 1 2; m: 0 3",
		},
		{
			"list keys in another order and number format",
			[]string{manager("m", 4, `{"f:spec":{"f:ports":{"k:{\"protocol\":\"TCP\",\"port\":8e1}":{}}}}`)},
			patchOf("/spec/ports/0"), "m: 0",
		},
		{
			"set values",
			[]string{
				manager("m", 4, `{"f:spec":{"f:set":{"v:\"s\"":{}},"f:flags":{"v:false":{}}}}`),
				manager("n", 5, `{"f:spec":{"f:set":{"v:\"t\"":{}},"f:flags":{"v:true":{}}}}`),
			},
			patchOf("/spec/set/0", "/spec/set/1", "/spec/flags/1"), "n: 1; m: 0 2",
		},
		{
			"list indices",
			[]string{
				manager("m", 4, `{"f:spec":{"f:args":{"i:0":{}},"f:sum":{"i:1":{"i:0":{}}}}}`),
				manager("n", 5, `{"f:spec":{"f:args":{"i:1":{}}}}`),
			},
			patchOf("/spec/args/0", "/spec/args/1", "/spec/sum/1/0"), "n: 1; m: 0 2",
		},
		{
			"list key with an object value",
			[]string{manager("m", 4, `{"f:odd":{"k:{\"b\":{\"c\":2}}":{}}}`)},
			patchOf("/odd/0/a"), "m: 0",
		},
		{
			"nonexistent path",
			[]string{manager("m", 4, `{"f:spec":{"f:args":{},"f:gone":{"f:a":{}}}}`)},
			patchOf("/spec/args/7", "/spec/gone/a"), "m: 0 1",
		},

		{
			"removed, newest manager",
			[]string{manager("m", 5, `{"f:spec":{}}`), manager("n", 4, `{"f:data":{}}`)},
			patchOf("-/data/z", "/data"), "m: 0; n: 1",
		},
		{
			"removed, same time, one manager owns the parent",
			[]string{manager("m", 5, `{"f:data":{}}`), manager("n", 5, `{"f:spec":{}}`)},
			patchOf("-/data/z", "/data"),
			"m: 0 1",
		},
		{
			"removed, same time, both managers own the parent",
			[]string{manager("m", 5, `{"f:data":{}}`), manager("n", 5, `{"f:data":{}}`)},
			patchOf("-/data/z"), "n: 0",
		},
		{"removed, without a newer entry", []string{manager("m", previousSecond, `{"f:data":{}}`)}, patchOf("-/data/z"), ""},
		{
			"removed, newest manager wrote in the same second",
			[]string{manager("m", previousSecond, `{"f:data":{}}`)},
			patchOf("-/data/z", "/data"), "m: 0 1",
		},
		{
			"removed, an older manager wrote because of clock skew",
			[]string{manager("m", previousSecond, `{"f:spec":{}}`), manager("n", previousSecond-1, `{"f:data":{}}`)},
			patchOf("-/data/z", "/data"), "n: 1",
		},
		{"set without an owner", []string{manager("m", 4, `{"f:data":{}}`)}, patchOf("/spec/nodeName"), "m: 0"},
		{
			"set without an owner or a newer entry",
			[]string{manager("m", previousSecond, `{"f:data":{}}`)},
			patchOf("/metadata/deletionTimestamp", "/metadata/resourceVersion"), "",
		},
		{
			"set without an owner, newest manager wrote in the same second",
			[]string{manager("m", previousSecond, `{"f:data":{}}`)},
			patchOf("/data", "/metadata/deletionTimestamp", "/metadata/resourceVersion"), "m: 0 2",
		},
		{
			"all metadata, without a newer entry",
			[]string{manager("m", previousSecond, `{"f:metadata":{"f:labels":{"f:a":{}}}}`)},
			patchOf("/metadata"), "",
		},
		{"document, without a newer entry", []string{manager("m", previousSecond, `{"f:data":{}}`)}, patchOf(""), ""},
		{
			"removed index now refers to another element",
			[]string{manager("m", 4, `{"f:spec":{"f:set":{"v:\"s\"":{}}}}`), manager("n", 5, `{"f:data":{}}`)},
			patchOf("-/spec/set/0"), "n: 0",
		},

		{
			"no fieldsV1",
			[]string{manager("m", 4, `null`), `{"manager":"n","time":"2026-11-21T10:00:01Z"}`},
			patchOf("/data"), "m: 0",
		},
		{
			"fieldsV1 of another type",
			[]string{manager("m", 4, `["f:data"]`), manager("n", 2, `{"f:data":{}}`)},
			patchOf("/data"), "n: 0",
		},
		{
			"path elements with an unknown prefix",
			[]string{manager("m", 4, `{"z:what":{},"f:data":{"q:1":{}}}`)},
			patchOf("/data/x~0y"), "m: 0",
		},
		{
			"malformed path elements",
			[]string{manager("m", 4, `{"f:data":{"k:{":{}}}`), manager("n", 2, `{"f:data":{}}`)},
			patchOf("/data"),
			"n: 0",
		},
		{"no time", []string{`{"manager":"m","operation":"Update","fieldsV1":{"f:data":{}}}`}, patchOf("/data"), "m: 0"},
		{"invalid time", []string{`{"manager":"m","time":"noon","fieldsV1":{"f:data":{}}}`}, patchOf("/data"), ""},
		{"invalid manager name", []string{`{"manager":7,"fieldsV1":{"f:data":{}}}`}, patchOf("/data"), ""},
		{"invalid entry", []string{`7`, manager("m", 4, `{"f:data":{}}`)}, patchOf("/data"), ""},
		{"truncated", []string{manager("m", 4, `{"f:data":{}}`) + ","}, patchOf("/data"), ""},
		{"no manager", nil, patchOf("/data"), ""},
		{"patch of another type", []string{manager("m", 4, `{"f:data":{}}`)}, `{"op":"add"}`, ""},
		{"empty patch", []string{manager("m", 4, `{"f:data":{}}`)}, `[]`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			managed := "[" + strings.Join(test.managers, ",") + "]"
			since := time.Date(2026, 11, 21, 10, 0, previousSecond, 0, time.UTC)
			var got []string
			for _, share := range fieldmanager.Attribute([]byte(managed), []byte(test.patch), []byte(after), since) {
				got = append(got, share.Manager+": "+strings.Trim(fmt.Sprint(share.Ops), "[]"))
			}
			if got := strings.Join(got, "; "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestNewestReportsWhetherTimesAreAmbiguous(t *testing.T) {
	for _, test := range []struct {
		name, managed, want string
		unambiguous         bool
	}{
		{"one", "[" + manager("m", 1, "{}") + "]", "m", true},
		{
			"the newest of three",
			"[" + manager("m", 1, "{}") + "," + manager("n", 3, "{}") + "," + manager("o", 2, "{}") + "]", "n",
			true,
		},
		{
			"last of several with the same time",
			"[" + manager("m", 3, "{}") + "," + manager("n", 3, "{}") + "," + manager("o", 2, "{}") + "]", "n",
			false,
		},
		{
			"two older with the same time",
			"[" + manager("m", 2, "{}") + "," + manager("n", 2, "{}") + "," + manager("o", 3, "{}") + "]", "o",
			true,
		},
		{"none", "[]", "", false},
		{"null", "null", "", false},
		{"nothing", "", "", false},
		{"an object", `{"manager":"m"}`, "", false},
		{"trailing data", "[" + manager("m", 1, "{}") + "]]", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, unambiguous := fieldmanager.Newest([]byte(test.managed))
			if got == nil {
				got = &fieldmanager.Author{}
			}
			if got.Manager != test.want || unambiguous != test.unambiguous {
				t.Errorf("Newest: got %q, unambiguous %t, want %q, %t", got.Manager, unambiguous, test.want, test.unambiguous)
			}
		})
	}
}

// For any input, the indices of operations are valid, and authors are sorted, newest first.
// Invariant: I3, I12, I27.
func FuzzAttribute(f *testing.F) {
	for _, file := range []string{"apply.jsonl", "deployment.jsonl", "service.jsonl", "pod.jsonl"} {
		for _, v := range versions(f, file) {
			f.Add(
				v.managed,
				[]byte(
					patchOf(
						"/metadata/resourceVersion", "/spec/ports/0", "-/status/phase",
						"/spec/template/spec/containers/1/env/0",
					),
				),
				v.text, int64(0),
			)
		}
	}
	f.Add(
		[]byte("["+manager("m", 1, `{"f:l":{"k:{\"a\":1}":{},"v:1":{},"i:0":{".":{}}}}`)+"]"),
		[]byte(patchOf("/l/0/a", "/l/1", "")), []byte(`{"l":[{"a":1},1]}`), int64(1)<<40,
	)
	f.Fuzz(func(t *testing.T, managed, patch, after []byte, since int64) {
		var last *fieldmanager.Author
		for _, share := range fieldmanager.Attribute(managed, patch, after, time.Unix(since, 0)) {
			if last != nil && share.Time.After(last.Time) {
				t.Errorf("contributions are not sorted: %+v is newer than %+v", share.Author, last)
			}
			last = &share.Author
			if len(share.Ops) == 0 {
				t.Errorf("%+v has no operations", share.Author)
			}
			for i, op := range share.Ops {
				if op < 0 || op >= len(patch) || i > 0 && op <= share.Ops[i-1] {
					t.Errorf("operation indices are out of range or not sorted: %v", share.Ops)
				}
			}
		}
	})
}
