package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// The compare page contains every object that can be read.
//
// Invariant: I42. Two objects can be compared, with and without JavaScript. If one of them is missing, the other is
// shown. Large objects are compared in steps of a few milliseconds. Only visible lines are laid out. When an object
// changes, the page keeps the keyboard position and the shown context lines.
func TestComparePageContainsReadableObjects(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const first, second = podsRef + "/a/web-1", podsRef + "/b/web-10"
	for _, test := range []struct {
		query  string
		status int
		want   []string
	}{
		{
			"?a=" + first + "&b=" + second, 200,
			[]string{"name: web-1\n", "name: web-10\n", `href="/o/core/v1/pods/b/web-10"`, "note: &lt;b&gt;"},
		},
		{"?a=" + first + "&b=web-2", 200, []string{`data-text="core/v1/pods/a/web-2"`, "name: web-2\n"}},
		{"?a=" + first + "&b=b/web-10", 200, []string{"name: web-10\n"}},
		{"?a=" + first + "&b=none", 404, []string{"name: web-1\n", "Not found"}},
		{
			"?a=" + first, 200,
			[]string{
				"name: web-1\n", "Enter an object above, or choose one:", "Select an object to compare",
				`href="/compare?a=core%2Fv1%2Fpods%2Fa%2Fweb-1&amp;b=web-2"`,
			},
		},
		{"", 200, []string{"Enter an object above."}},
		{"?a=web-1&b=" + first, 400, []string{"is not an object reference", "name: web-1\n"}},
		{"?a=core/v1/nothing/a/x&b=" + first, 404, []string{"Unknown resource", "name: web-1\n"}},
		{"?a=<b>/x/y", 400, []string{"&lt;b&gt;/x/y"}},
		{"?a=" + first + "&b=web-2&hide=status", 200, []string{`name="hide" value="status"`}},
	} {
		t.Run(test.query, func(t *testing.T) {
			a := s.get("/compare" + strings.ReplaceAll(test.query, "<", "%3C"))
			if a.status != test.status || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
				t.Errorf("%s: got status %d, Content-Type %s; want %d and a page", test.query, a.status,
					a.header.Get("Content-Type"), test.status)
			}
			for _, want := range test.want {
				if !strings.Contains(a.body, want) {
					t.Errorf("the page does not contain %q", want)
				}
			}
		})
	}
	s.api.Set(podsRef, apitest.Item{
		Namespace: "a", Name: "odd", Rest: "\"spec\":{\"note\":\"one\\u0085two\u2028three\\ufeff\"}",
	})
	s.waitForText("/compare?a="+first+"&b=odd", "name: odd\n")
	s.wantProblem("unknown parameter", s.get("/compare?c=1"), http.StatusBadRequest, "Unknown parameter",
		"a, b, hide")
}

// The compare page notes that masked (redacted) values are not compared, even without scripts.
func TestComparePageNotesMaskedValues(t *testing.T) {
	s := newSite(t)
	const secrets = "core/v1/secrets"
	for _, name := range []string{"one", "other"} {
		s.api.Set(secrets, apitest.Item{Namespace: "a", Name: name, Rest: `"data":{"key":"aHVzaA=="}`})
	}
	s.api.Set(secrets, apitest.Item{Namespace: "a", Name: "empty"})
	// Simulate masked values: the value of this variable equals the text that replaces masked values.
	for _, name := range []string{"mask-1", "mask-2"} {
		s.api.Set(podsRef, apitest.Item{
			Namespace: "a", Name: name, Rest: `"spec":{"containers":[{"env":[{"name":"A","value":"(masked)"}]}]}`,
		})
	}
	const secretsNote, valuesNote = "Values of Secrets are masked. They are not " +
		"compared", "Some values are masked. They are not compared"
	for query, want := range map[string]string{
		"?a=" + secrets + "/a/one&b=other": secretsNote, "?a=" + secrets + "/a/one&b=empty": "",
		"?a=" + secrets + "/a/one": "", "?a=" + podsRef + "/a/web-1&b=web-2": "",
		"?a=" + podsRef + "/a/mask-1&b=mask-2": valuesNote, "?a=" + podsRef + "/a/mask-1&b=" + secrets + "/a/one": valuesNote,
		"?a=" + podsRef + "/a/mask-1&b=web-1": "",
	} {
		t.Run(query, func(t *testing.T) {
			s := s.forRow(t)
			a := s.get("/compare" + query)
			for _, note := range []string{secretsNote, valuesNote} {
				if strings.Contains(a.body, note) != (note == want) || a.status != http.StatusOK {
					t.Errorf("got status %d, want the note %q: %s", a.status, want, a.body)
				}
			}
		})
	}
}
