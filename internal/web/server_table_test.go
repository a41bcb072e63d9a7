package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// A snapshot has the requested columns in the order of the table, and its rows in the requested sort order.
//
// Invariant: I33. An export contains the rows and columns that the page shows. The page reports a chosen column or
// namespace that does not exist. The URL contains the chosen columns and namespaces. The history entry of the browser
// contains the scroll position. Counts of objects are sent at most once a second.
func TestSnapshotHasTheSelectedColumns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const ref = "example.com/v1/gadgets"
	const long = "three-with-a-name-of-more-than-forty-characters" // Longer than its extra cell.
	s.api.AddKind(apitest.Kind{
		Ref: ref, Kind: "Gadget",
		Columns: `[{"name":"Name","type":"string"},{"name":"Size","type":"integer"},{"name":"Made ` +
			`By","type":"string","priority":1}]`,
	})
	for name, cells := range map[string]string{
		"one": `["one",10,"x"]`, "two": `["two",9,"y"]`, long: `["` + long + `",11,"z"]`,
	} {
		item := managedBy("a", name, "helm", time.Date(2026, 11, 21, 10, 0, 5, 0, time.UTC))
		item.Cells = cells
		s.api.Set(ref, item)
	}
	const changed = ",2026-11-21T10:00:05Z ago by helm\n"
	path := "/api/v1/snapshot/" + ref
	s.waitForLive(ref)
	for _, test := range []struct{ name, query, want string }{
		{
			"all columns, sorted by name", "format=csv",
			"Namespace,Name,Size,Made By\na,one,10,x\na," + long + ",11,z\na,two,9,y\n",
		},
		{"usual columns", "format=csv&cols=usual", "Namespace,Name,Size\na,one,10\na," + long + ",11\na,two,9\n"},
		{"wide columns", "format=csv&cols=wide&sort=size&limit=1", "Namespace,Name,Size,Made By\na,two,9,y\n"},
		{
			"selected columns", "format=csv&cols=made+by&cols=name&sort=-Size",
			"Name,Made By\n" + long + ",z\none,x\ntwo,y\n",
		},
		{
			"selected columns with the namespace", "format=csv&cols=size&cols=namespace&q=two",
			"Namespace,Name,Size\na,two,9\n",
		},
		{
			"extra column", "format=csv&cols=last+change&sort=size",
			"Name,Last change\ntwo" + changed + "one" + changed + long + changed,
		},
		{
			"rows with an extra column", "format=ndjson&cols=last+change&q=two",
			`{"ns":"a","name":"two","uid":"a/two","rv":"RV","created":"2026-11-21T10:00:00Z",` +
				`"cells":["two","2026-11-21T10:00:05Z ago by helm"]}` + "\n",
		},
		{
			"rows", "format=ndjson&cols=made+by&q=two",
			`{"ns":"a","name":"two","uid":"a/two","rv":"RV","created":"2026-11-21T10:00:00Z","cells":["two","y"]}` + "\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := s.get(path + "?" + test.query)
			body := a.body
			if _, after, ok := strings.Cut(body, `"rv":"`); ok {
				rv, _, _ := strings.Cut(after, `"`)
				body = strings.ReplaceAll(body, `"rv":"`+rv+`"`, `"rv":"RV"`)
			}
			if a.status != http.StatusOK || body != test.want {
				t.Errorf("got %d\n%s\nwant\n%s", a.status, a.body, test.want)
			}
		})
	}
	if a := s.get(path + "?cols=usual"); !strings.Contains(a.body, `"columns":[{"name":"Name"`) ||
		strings.Contains(a.body, "Made By") || strings.Contains(a.body, "extra") ||
		!strings.Contains(a.body, `"cells":["one",10]`) {
		t.Errorf("usual columns as JSON: got %s", a.body)
	}
	s.wantProblem("unknown column", s.get(path+"?cols=colour"), http.StatusBadRequest, "No such column",
		"colour")
	s.wantProblem("columns with view objects",
		s.get(path+"?cols=size&view=objects"), http.StatusBadRequest, "No such table",
		"rows")
}

// The export links of a page have the same namespaces, text filter and sort order as the page.
//
// Invariant: I33.
func TestExportLinksHaveThePageQuery(t *testing.T) {
	s := newSite(t)
	page := s.get("/r/"+podsRef+"?ns=a&q=web&sort=-name&cols=status&cols=none", "Accept: text/html").body
	var links []string
	for part := range strings.SplitSeq(page, `href="/api/v1/snapshot/`) {
		if href, _, ok := strings.Cut(part, `"`); ok && strings.HasPrefix(href, podsRef) {
			links = append(links, strings.ReplaceAll(href, "&amp;", "&"))
		}
	}
	if len(links) != 5 {
		t.Fatalf("the page has the links %v, want 5", links)
	}
	for _, link := range links {
		_, query, _ := strings.Cut(link, "?")
		values, err := url.ParseQuery(query)
		if err != nil || values.Get("ns") != "a" || values.Get("q") != "web" || values.Get("sort") != "-name" ||
			values.Has("cols") != (values.Get("view") == "rows") {
			t.Errorf("export link %s does not have the query of the page", link)
		}
		if a := s.get("/api/v1/snapshot/" + link); a.status != http.StatusOK ||
			strings.Index(a.body, "web-2") > strings.Index(a.body, "web-1") || strings.Contains(a.body, "web-10") {
			t.Errorf("GET export %s: got %d %s", link, a.status, a.body)
		}
	}
}

// The filter form of a page has a hidden field for each query parameter that has no visible field.
func TestFormKeepsOtherParameters(t *testing.T) {
	s := newSite(t)
	hidden := regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)
	for _, test := range []struct{ query, want string }{
		{"", ""},
		{"ns=a&ns=b&q=web&labels=app%3Dweb&from=1&sort=", ""},
		{
			"sort=-name&cols=status&cols=name&open=a/web-1&tab=yaml",
			"sort=-name cols=status cols=name open=a/web-1 tab=yaml",
		},
		{"open=a/web-1&tab=logs&container=side&previous=true", "open=a/web-1 tab=logs container=side previous=true"},
		{"open=a/web-1&activity=all+image", "open=a/web-1 activity=all image"},
		{"open=a/web-1&tab=logs&filter=is:error&find=x", "open=a/web-1 tab=logs filter=is:error find=x"},
		{"sort=name&cols=wide", "sort=name"},
	} {
		t.Run(test.query, func(t *testing.T) {
			page := s.get("/r/"+podsRef+"?"+test.query, "Accept: text/html").body
			var got []string
			for _, match := range hidden.FindAllStringSubmatch(page, -1) {
				got = append(got, match[1]+"="+match[2])
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("hidden fields of the form are %q, want %q", got, test.want)
			}
			if strings.Contains(page, `value="wide"`) == strings.Contains(page, ">Default columns</a>") {
				t.Error("the page does not have exactly one of the two column links")
			}
		})
	}
	page := s.get("/r/"+podsRef+"?cols=status&open=a/web-1", "Accept: text/html").body
	for _, link := range []string{
		`href="/r/` + podsRef + `?open=a%2Fweb-1">Default columns`, `?cols=status&amp;open=a%2Fweb-1&amp;sort=name"`,
	} {
		if !strings.Contains(page, link) {
			t.Errorf("the page does not contain %s", link)
		}
	}
}

// For browsers without JavaScript, a list page links to the page of the open object.
func TestOpenObjectIsLinked(t *testing.T) {
	s := newSite(t)
	for query, want := range map[string]string{
		podsRef + "?open=a/web-1": `Without JavaScript, open <a href="/o/` + podsRef +
			`/a/web-1">a/web-1</a> on its own page.`,
		widgetsRef + "?open=_/one": `Without JavaScript, open <a href="/o/` + widgetsRef +
			`/_/one">one</a> on its own page.`,
		podsRef + "?open=none": "",
		podsRef:                "",
	} {
		t.Run(query, func(t *testing.T) {
			s := s.forRow(t)
			page := s.get("/r/"+query, "Accept: text/html").body
			if !strings.Contains(page, want) || (want == "") == strings.Contains(page, "Without JavaScript") {
				t.Errorf("the page does not contain %q", want)
			}
		})
	}
}
