package fieldmanager_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"glasshouse/internal/watch/fieldmanager"
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

// Invariant: I15.
func TestAttribution(t *testing.T) {
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
		want     string // The expected authors, newest first, each as "manager: operation indices".
	}{
		{
			"a member",
			[]string{manager("m", 4, `{"f:data":{"f:x~y":{}}}`), manager("n", 5, `{"f:spec":{"f:args":{}}}`)},
			patchOf("/data/x~0y", "/spec/args"), "n: 1; m: 0",
		},
		{
			"escaped, and like an index",
			[]string{manager("m", 4, `{"f:metadata":{"f:labels":{"f:b/c":{},"f:0":{}}}}`)},
			patchOf("/metadata/labels/b~1c", "/metadata/labels/0"), "m: 0 1",
		},
		{
			"an object owns its members",
			[]string{manager("m", 4, `{"f:data":{".":{},"f:x~y":{}}}`)},
			patchOf("/data"),
			"m: 0",
		},
		{"everything", []string{manager("m", 4, `{"f:data":{"f:x~y":{}}}`), manager("none", 4, `{}`)}, patchOf(""), "m: 0"},
		{
			"below, of several",
			[]string{
				manager("m", 4, `{"f:metadata":{"f:labels":{"f:a":{}}}}`),
				manager("n", 5, `{"f:metadata":{"f:labels":{"f:0":{}}}}`),
			},
			patchOf("/metadata/labels"), "n: 0; m: 0",
		},
		{
			"below, but stayed",
			[]string{
				manager("m", previousSecond, `{"f:metadata":{"f:labels":{"f:a":{}}}}`),
				manager("n", 5, `{"f:metadata":{"f:labels":{"f:0":{}}}}`),
			},
			patchOf("/metadata/labels"), "n: 0",
		},
		{
			"a list as a whole, but stayed",
			[]string{manager("m", previousSecond, `{"f:spec":{"f:args":{}}}`), manager("n", 5, `{"f:spec":{"f:args":{}}}`)},
			patchOf("/spec/args/1"), "n: 0",
		},
		{
			"that is unchanged but now closer",
			[]string{manager("m", 5, `{"f:data":{".":{}}}`), manager("n", previousSecond, `{"f:data":{"f:x~y":{}}}`)},
			patchOf("/data/x~0y"), "n: 0",
		},
		{
			"both older than thought",
			[]string{
				manager("m", previousSecond, `{"f:data":{"f:x~y":{}}}`), manager("n", previousSecond-1, `{"f:data":{"f:x~y":{}}}`),
			},
			patchOf("/data/x~0y"), "m: 0; n: 0",
		},
		{
			"in an atomic list",
			[]string{manager("m", 4, `{"f:spec":{"f:args":{}}}`)},
			patchOf("/spec/args/1", "/spec/sum/1/0"), "m: 0 1",
		},
		{
			"that an object is there is not what is in it",
			[]string{manager("m", 5, `{"f:data":{".":{}}}`), manager("n", 4, `{"f:data":{"f:x~y":{}}}`)},
			patchOf("/data/x~0y"), "n: 0",
		},
		{
			"that it is there, and other members",
			[]string{manager("m", 4, `{"f:data":{".":{},"f:z":{}}}`), manager("n", 5, `{"f:spec":{}}`)},
			patchOf("/data/x~0y"), "n: 0",
		},
		{
			"keys",
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
			"keys in another order, and a number written otherwise",
			[]string{manager("m", 4, `{"f:spec":{"f:ports":{"k:{\"protocol\":\"TCP\",\"port\":8e1}":{}}}}`)},
			patchOf("/spec/ports/0"), "m: 0",
		},
		{
			"values",
			[]string{
				manager("m", 4, `{"f:spec":{"f:set":{"v:\"s\"":{}},"f:flags":{"v:false":{}}}}`),
				manager("n", 5, `{"f:spec":{"f:set":{"v:\"t\"":{}},"f:flags":{"v:true":{}}}}`),
			},
			patchOf("/spec/set/0", "/spec/set/1", "/spec/flags/1"), "n: 1; m: 0 2",
		},
		{
			"indices",
			[]string{
				manager("m", 4, `{"f:spec":{"f:args":{"i:0":{}},"f:sum":{"i:1":{"i:0":{}}}}}`),
				manager("n", 5, `{"f:spec":{"f:args":{"i:1":{}}}}`),
			},
			patchOf("/spec/args/0", "/spec/args/1", "/spec/sum/1/0"), "n: 1; m: 0 2",
		},
		{
			"a key that is an object",
			[]string{manager("m", 4, `{"f:odd":{"k:{\"b\":{\"c\":2}}":{}}}`)},
			patchOf("/odd/0/a"), "m: 0",
		},
		{
			"a path that is not there",
			[]string{manager("m", 4, `{"f:spec":{"f:args":{},"f:gone":{"f:a":{}}}}`)},
			patchOf("/spec/args/7", "/spec/gone/a"), "m: 0 1",
		},

		{
			"removed: the newest",
			[]string{manager("m", 5, `{"f:spec":{}}`), manager("n", 4, `{"f:data":{}}`)},
			patchOf("-/data/z", "/data"), "m: 0; n: 1",
		},
		{
			"removed: of the newest the one that wrote",
			[]string{manager("m", 5, `{"f:data":{}}`), manager("n", 5, `{"f:spec":{}}`)},
			patchOf("-/data/z", "/data"),
			"m: 0 1",
		},
		{
			"removed: of the newest the last",
			[]string{manager("m", 5, `{"f:data":{}}`), manager("n", 5, `{"f:data":{}}`)},
			patchOf("-/data/z"), "n: 0",
		},
		{"removed, and no time was taken", []string{manager("m", previousSecond, `{"f:data":{}}`)}, patchOf("-/data/z"), ""},
		{
			"removed, and the newest wrote within the second",
			[]string{manager("m", previousSecond, `{"f:data":{}}`)},
			patchOf("-/data/z", "/data"), "m: 0 1",
		},
		{
			"removed, and an older one wrote: clocks that differ",
			[]string{manager("m", previousSecond, `{"f:spec":{}}`), manager("n", previousSecond-1, `{"f:data":{}}`)},
			patchOf("-/data/z", "/data"), "n: 1",
		},
		{"set, and no manager owns it", []string{manager("m", 4, `{"f:data":{}}`)}, patchOf("/spec/nodeName"), "m: 0"},
		{
			"that, and no time was taken",
			[]string{manager("m", previousSecond, `{"f:data":{}}`)},
			patchOf("/metadata/deletionTimestamp", "/metadata/resourceVersion"), "",
		},
		{
			"that, and the newest wrote within the second",
			[]string{manager("m", previousSecond, `{"f:data":{}}`)},
			patchOf("/data", "/metadata/deletionTimestamp", "/metadata/resourceVersion"), "m: 0 2",
		},
		{
			"the metadata as a whole, and no time was taken",
			[]string{manager("m", previousSecond, `{"f:metadata":{"f:labels":{"f:a":{}}}}`)},
			patchOf("/metadata"), "",
		},
		{"everything, and no time was taken", []string{manager("m", previousSecond, `{"f:data":{}}`)}, patchOf(""), ""},
		{
			"an index of what was removed is another's",
			[]string{manager("m", 4, `{"f:spec":{"f:set":{"v:\"s\"":{}}}}`), manager("n", 5, `{"f:data":{}}`)},
			patchOf("-/spec/set/0"), "n: 0",
		},

		{
			"no fields",
			[]string{manager("m", 4, `null`), `{"manager":"n","time":"2026-11-21T10:00:01Z"}`},
			patchOf("/data"), "m: 0",
		},
		{
			"fields of another type",
			[]string{manager("m", 4, `["f:data"]`), manager("n", 2, `{"f:data":{}}`)},
			patchOf("/data"), "n: 0",
		},
		{
			"elements of an unknown kind",
			[]string{manager("m", 4, `{"z:what":{},"f:data":{"q:1":{}}}`)},
			patchOf("/data/x~0y"), "m: 0",
		},
		{
			"elements that make no sense",
			[]string{manager("m", 4, `{"f:data":{"k:{":{}}}`), manager("n", 2, `{"f:data":{}}`)},
			patchOf("/data"),
			"n: 0",
		},
		{"no time", []string{`{"manager":"m","operation":"Update","fieldsV1":{"f:data":{}}}`}, patchOf("/data"), "m: 0"},
		{"a time that is none", []string{`{"manager":"m","time":"noon","fieldsV1":{"f:data":{}}}`}, patchOf("/data"), ""},
		{"a name that is none", []string{`{"manager":7,"fieldsV1":{"f:data":{}}}`}, patchOf("/data"), ""},
		{"an entry that is none", []string{`7`, manager("m", 4, `{"f:data":{}}`)}, patchOf("/data"), ""},
		{"cut short", []string{manager("m", 4, `{"f:data":{}}`) + ","}, patchOf("/data"), ""},
		{"no manager", nil, patchOf("/data"), ""},
		{"no patch", []string{manager("m", 4, `{"f:data":{}}`)}, `{"op":"add"}`, ""},
		{"nothing to patch", []string{manager("m", 4, `{"f:data":{}}`)}, `[]`, ""},
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

func TestNewest(t *testing.T) {
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
			"of several the last",
			"[" + manager("m", 3, "{}") + "," + manager("n", 3, "{}") + "," + manager("o", 2, "{}") + "]", "n",
			false,
		},
		{
			"two older ones",
			"[" + manager("m", 2, "{}") + "," + manager("n", 2, "{}") + "," + manager("o", 3, "{}") + "]", "o",
			true,
		},
		{"none", "[]", "", false},
		{"null", "null", "", false},
		{"nothing", "", "", false},
		{"an object", `{"manager":"m"}`, "", false},
		{"more behind it", "[" + manager("m", 1, "{}") + "]]", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, unambiguous := fieldmanager.Newest([]byte(test.managed))
			if got == nil {
				got = &fieldmanager.Author{}
			}
			if got.Manager != test.want || unambiguous != test.unambiguous {
				t.Errorf("got %q, alone %t, want %q, %t", got.Manager, unambiguous, test.want, test.unambiguous)
			}
		})
	}
}

// Operation indices are valid, and authors are sorted from the newest, for any input.
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
				t.Errorf("%+v is after %+v", share.Author, last)
			}
			last = &share.Author
			if len(share.Ops) == 0 {
				t.Errorf("%+v has no part", share.Author)
			}
			for i, op := range share.Ops {
				if op < 0 || op >= len(patch) || i > 0 && op <= share.Ops[i-1] {
					t.Errorf("operations are %v", share.Ops)
				}
			}
		}
	})
}
