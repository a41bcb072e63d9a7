package web_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// Invariant: I26. The program refuses invalid or oversized input with an explanation, and continues to run. It serves
// only allowed hosts and origins. The error for another host or origin names the flag that allows it. A log record is
// one line. A renewed certificate needs no restart. All URLs are under the base path. The program reads a setting from
// its flag, the environment or a file.
func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	snapshot := "/api/v1/snapshot/" + podsRef
	for _, test := range []struct {
		path          string
		status        int
		title, detail string
	}{
		{
			snapshot + "?nss=a", 400, "Unknown parameter",
			`"nss" is not a parameter here; the parameters are: ` +
				`cols, fields, format, labels, limit, ns, q, sort, view, wait.`,
		},
		{snapshot + "?labels=a&labels=b", 400, "Repeated parameter", "labels can be set only once"},
		{snapshot + "?limit=0", 400, "Invalid limit", `"0"`},
		{snapshot + "?limit=-1", 400, "Invalid limit", `"-1", but must be an integer from 1.`},
		{snapshot + "?limit=many", 400, "Invalid limit", `"many"`},
		{snapshot + "?limit=99999999999999999999", 400, "Invalid limit", "99999999999999999999"},
		{snapshot + "?view=object", 400, "Unknown view", "rows, objects"},
		{snapshot + "?format=xml", 400, "Unknown format", `"xml"`},
		{snapshot + "?format=csv&view=objects", 400, "No such table", "json, ndjson or yaml"},
		{snapshot + "?wait=soon", 400, "Invalid time", `"soon"`},
		{snapshot + "?wait=-1s", 400, "Invalid time", `"-1s"`},
		{snapshot + "?wait=61s", 400, "Invalid time", `"61s"`},
		{snapshot + "?labels=%zz", 400, "Malformed query", "cannot be read"},
		{snapshot + "?labels=a;b", 400, "Malformed query", "cannot be read"},
		{snapshot + "?labels=a%3Db%3Dc", 400, "Invalid label selector", "a=b=c"},
		{snapshot + "?labels=a%3D%3D%3Db", 400, "Invalid label selector", "kubectl -l"},
		{snapshot + "?labels=" + strings.Repeat("a", 5000), 400, "Selector too long", "4096"},
		{snapshot + "?q=" + strings.Repeat("a", 5000), 400, "Selector too long", "4096"},
		{snapshot + "?fields=a~b", 400, "Invalid field selector", "a~b"},
		{snapshot + "?fields=status.phase", 400, "Invalid field selector", "kubectl --field-selector"},
		{snapshot + "?ns=A_B", 400, "Invalid namespace", `"A_B" is not a valid namespace name`},
		{snapshot + "?ns=nowhere", 404, "Unknown namespace", `"nowhere"`},
		{snapshot + "?ns=" + strings.Repeat("a,", 201), 400, "Too many namespaces", "201"},
		{"/api/v1/snapshot/core/v1/po", 404, "Unknown resource", "Did you mean core/v1/pods?"},
		{"/api/v1/snapshot/" + widgetsRef + "?ns=a", 400, "Not namespaced", "omit ns"},
		{"/r/" + podsRef + "?limit=5", 400, "Unknown parameter", `"limit"`},
		{"/api/v1/object/" + podsRef + "/a/web-1?format=csv", 400, "Unknown format", `"csv"`},
		{"/api/v1/object/" + podsRef + "/a/web-1?x=1", 400, "Unknown parameter", `"x"`},
		{"/api/v1/object/" + podsRef + "/a/web-1?format=json&format=yaml", 400, "Repeated parameter", "format can be set"},
		{"/api/v1/object/" + podsRef + "/a/web-1?format=%zz", 400, "Malformed query", "cannot be read"},
		{"/api/v1/object/" + podsRef + "/a/web-1?format=json;x=1", 400, "Malformed query", "cannot be read"},
		{"/api/v1/object/" + podsRef + "/a/none", 404, "Not found", "a/none"},
		{"/api/v1/object/" + podsRef + "/a/..%2f..%2fsecrets", 400, "Invalid name", "not a valid object name"},
		{"/api/v1/object/" + podsRef + "/_/web-1", 400, "Invalid object reference", "are namespaced"},
		{"/api/v1/object/" + widgetsRef + "/a/w", 400, "Invalid object reference", "are not"},
		{"/api/v1/live", 400, "Wrong subprotocol", "glasshouse.v1+json"},
		{"/api/v1/nothing", 404, "Page not found", "/api/openapi.json lists the routes."},
		{"//api/v1/resources", 404, "Page not found", "//api"},
		{"/healthz/", 404, "Page not found", "/healthz/"},
		{"/static/none.js", 404, "Page not found", "none.js"},
		{"/static/", 404, "Page not found", "/static/"},
	} {
		t.Run(test.path, func(t *testing.T) {
			s.wantProblem(test.path, s.get(test.path), test.status, test.title, test.detail)
		})
	}
}

// Escapes in the path of a request cannot change the path of a request to the API server.
func TestEscapedPathsDoNotTraverse(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	before := len(s.api.Requests(""))
	for _, path := range []string{
		"/api/v1/object/" + podsRef + "/a/%2e%2e", "/api/v1/object/" + podsRef + "/a/%2e%2e%2f%2e%2e%2fsecrets",
		"/api/v1/object/" + podsRef + "/a/..%2fb",
		"/api/v1/object/" + podsRef + "/%2e%2e/x", "/api/v1/object/" + podsRef + "/a%2fsecrets/x",
		"/api/v1/object/" + podsRef + "/%2e%2e%2f%2e%2e/x",
		"/api/v1/object/core/v1/pods%2f..%2fsecrets/a/x", "/api/v1/object/core/%2e%2e/pods/a/x",
		"/api/v1/object/core%2fv1/pods/x/a/y",
		"/api/v1/object/" + podsRef + "/a/x%252f..", "/api/v1/object/" + podsRef + "/a/x%3fwatch=1%23",
		"/api/v1/object/" + podsRef + "/a/x%00",
		"/api/v1/object/" + podsRef + "/../x", "/o/" + podsRef + "/a/%2e%2e%2fx", "/o/" + podsRef + "/a%2f..%2fb/x",
		"/r/core/v1/%2e%2e%2fsecrets",
		"/api/v1/snapshot/core/v1/pods%2fweb-1%2flog", "/api/v1/snapshot/" + podsRef + "?ns=a%2f..",
		"/api/v1/object/" + podsRef + "/a/" + strings.Repeat("n", 300),
		"/static/%2e%2e/%2e%2e/etc/passwd", "/static/../server.go", "/static/..%2f..%2fgo.mod",
	} {
		t.Run(fmt.Sprintf("%.80s", path), func(t *testing.T) {
			s := s.forRow(t)
			a := s.get(path)
			var p struct{ Title string }
			if err := json.Unmarshal([]byte(a.body), &p); a.status < 400 || a.status > 499 || err != nil || p.Title == "" {
				t.Errorf("got %d %s, want a problem with a status of 4xx", a.status, a.body)
			}
		})
	}
	for _, line := range s.api.Requests("")[before:] {
		switch target := strings.TrimPrefix(line, "GET "); {
		case strings.HasPrefix(target, "/api?"), strings.HasPrefix(target, "/apis?"): // These are API discovery requests.
		case line == "POST "+apitest.SelfReviewsPath:
		// These two paths are valid requests for objects with unusual names.
		case target == "/api/v1/namespaces/a/pods/x%3Fwatch=1%23", target == "/api/v1/namespaces/a/pods/x%00":
		default:
			t.Errorf("got the request %s to the API server, want none", target)
		}
	}
}

// A browser receives an error as an HTML page. Other clients receive a problem document (RFC 9457).
func TestProblemsAreShownAsPagesToBrowsers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, test := range []struct {
		path, accept string
		status       int
		page         bool
	}{
		{"/nothing", "text/html,application/xhtml+xml", 404, true},
		{"/nothing", "application/json", 404, false},
		{"/nothing", "", 404, false},
		{"/api/nothing", "text/html", 404, false},
		{"/r/core/v1/%3Cscript%3E", "text/html", 404, true},
		{"/o/" + podsRef + "/a/none", "text/html", 404, true},
		{"/r/" + podsRef + "?labels=a%3Db%3Dc%3Cscript%3E", "text/html", 400, true},
	} {
		t.Run(test.path, func(t *testing.T) {
			var headers []string
			if test.accept != "" {
				headers = append(headers, "Accept: "+test.accept)
			}
			a := s.get(test.path, headers...)
			kind := a.header.Get("Content-Type")
			if a.status != test.status || test.page != strings.HasPrefix(kind, "text/html") ||
				test.page == (kind == "application/problem+json") {
				t.Errorf("%s with Accept %q: got %d %s, want %d and a page: %t", test.path, test.accept, a.status, kind,
					test.status, test.page)
			}
			if test.page && (strings.Contains(a.body, "<script>") || !strings.Contains(a.body, "<!doctype html>")) {
				t.Errorf("response is not a page without inline scripts: %.300s", a.body)
			}
		})
	}
}

func TestPagesAreRendered(t *testing.T) {
	s := newSite(t)
	for _, sort := range []string{"-name", "-Name"} {
		t.Run(sort, func(t *testing.T) {
			s := s.forRow(t)
			a := s.get("/r/"+podsRef+"?sort="+sort+"&ns=a&ns=b", "Accept: text/html")
			var order []int
			for _, name := range []string{
				`aria-sort="descending" data-column="0"><a href="/r/` + podsRef + `?ns=a&amp;ns=b"`, ">web-10<", ">web-2<",
				">web-1<",
			} {
				order = append(order, strings.Index(a.body, name))
			}
			if a.status != http.StatusOK || order[0] < 0 || !slices.IsSorted(order) {
				t.Errorf("got status %d, positions of the heading and the rows are %v; want the rows web-10, web-2, web-1",
					a.status, order)
			}
		})
	}
	for path, title := range map[string]string{
		"/r/" + podsRef: "Pods", "/r/" + podsRef + "?open=a/web-1": "a/web-1 - Pods",
		"/r/" + podsRef + "?open=core/v1/nodes/_/n-1": "n-1 - nodes", "/r/" + podsRef + "?open=a/b/c": "Pods",
		"/r/" + widgetsRef + "?open=_/one": "one - Widgets", "/r/" + podsRef + "?open=web-1": "Pods",
		"/o/" + podsRef + "/a/web-1": "a/web-1 - Pods",
	} {
		t.Run(path, func(t *testing.T) {
			s := s.forRow(t)
			if a := s.get(path, "Accept: text/html"); !strings.Contains(a.body, "<title>"+title+" - test</title>") {
				t.Errorf("the page does not have the title of the script, %q: %.600s", title, a.body)
			}
		})
	}
	a := s.get("/o/"+podsRef+"/a/web-1", "Accept: text/html")
	if a.status != http.StatusOK || !strings.Contains(a.body, "&lt;b&gt;") || strings.Contains(a.body, "<b>") {
		t.Errorf("page of the object: got %d %s, want its note escaped", a.status, a.body)
	}
	if !strings.Contains(a.body, ">As of 20") {
		t.Errorf("page of the object does not show when it was read: %s", a.body)
	}
}

// The page of a missing object has all parts of an object page, so that its script can show the object once it exists.
//
// Invariant: I19.
func TestPagesOfMissingObjects(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.api.FailPath("/api/v1/namespaces/a/pods/barred", http.StatusForbidden, "no")
	for _, test := range []struct {
		path   string
		status int
		want   []string
	}{
		{"/o/" + podsRef + "/a/none", 404, []string{
			`data-page="object" data-ref="core/v1/pods"`, `data-name="none"`, "<h2>Not found</h2>",
			"<noscript><p>Reload the page",
		}},
		{"/o/" + podsRef + "/a/barred", 403, []string{
			`data-page="object"`, "<h2>Forbidden</h2>", "<noscript><p>Reload the page",
		}},
		{"/o/example.com/v1/gadgets/_/none", 404, []string{
			`data-page="problem" data-ref="example.com/v1/gadgets"`, "as soon as the cluster serves the resource",
			"<noscript><p>Reload the page",
		}},
		{"/r/example.com/v1/gadgets", 404, []string{
			`data-page="problem" data-ref="example.com/v1/gadgets"`, "as soon as the cluster serves the resource",
		}},
		{"/nothing", 404, []string{`data-page="problem" data-ref=""`}},
		{"/compare?a=" + podsRef + "/a/none", 404, []string{"Not found", "<noscript><p>Reload the page"}},
	} {
		t.Run(test.path, func(t *testing.T) {
			a := s.get(test.path, "Accept: text/html")
			if a.status != test.status {
				t.Errorf("%s: got status %d, want %d", test.path, a.status, test.status)
			}
			for _, want := range test.want {
				if !strings.Contains(a.body, want) {
					t.Errorf("the page does not contain %q:\n%s", want, a.body)
				}
			}
		})
	}
}

// While the API server is unavailable, pages show since when data can be stale. A request for an object as JSON fails.
//
// Invariant: I19.
func TestPagesShowStaleDataWhileUnavailable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const twoNamespaces = "/r/" + podsRef + "?ns=a&ns=nowhere"
	s.waitForText(twoNamespaces, ">Namespace nowhere does not exist.<")
	s.api.Down(true)
	s.waitForText("/api/v1/snapshot/"+podsRef+"?limit=1", `"state":"stale"`)
	s.waitForText("/api/v1/snapshot/core/v1/namespaces?limit=1", `"state":"stale"`)
	const existing, missing = podsRef + "/a/web-1", podsRef + "/a/none"
	for path, wants := range map[string][]string{
		"/o/" + existing:                      {"name: web-1\n", ">Stale since 20"},
		"/compare?a=" + existing + "&b=web-2": {"name: web-1\n", "name: web-2\n", ">Stale since 20"},
		twoNamespaces:                         {">web-1<", ">Namespace nowhere did not exist at 20", ">Stale since 20"},
	} {
		t.Run(path, func(t *testing.T) {
			s := s.forRow(t)
			a := s.get(path, "Accept: text/html")
			for _, wants := range wants {
				if a.status != http.StatusOK || !strings.Contains(a.body, wants) {
					t.Errorf("got status %d, want 200 and %q in\n%s", a.status, wants, a.body)
				}
			}
		})
	}
	s.wantProblem("object that is not cached", s.get("/o/"+missing), http.StatusServiceUnavailable,
		"The API server does not respond", "")
	s.wantProblem("object as JSON", s.get("/api/v1/object/"+existing), http.StatusServiceUnavailable,
		"The API server does not respond", "")
	s.api.Down(false)
	s.waitForLive(podsRef)
	if a := s.get("/o/"+existing, "Accept: text/html"); a.status != http.StatusOK || strings.Contains(a.body, "Stale") {
		t.Errorf("object when the API server is available again: got %d\n%s", a.status, a.body)
	}
}

// The page for a namespace that does not exist links to the list of namespaces.
func TestPageOfUnknownNamespaceLinksToNamespaces(t *testing.T) {
	s := newSite(t)
	const link = `<a href="/r/core/v1/namespaces">View namespaces</a>`
	a := s.get("/r/"+podsRef+"?ns=nowhere", "Accept: text/html")
	if a.status != http.StatusNotFound || !strings.Contains(a.body, link) {
		t.Errorf("got status %d, want 404 and %s in\n%s", a.status, link, a.body)
	}
}

// If a page shows only some of the requested namespaces, it contains a note about that, even without JavaScript.
func TestPageNotesUncoveredNamespaces(t *testing.T) {
	s := newSite(t)
	s.api.Refuse("core/v1/secrets", "", http.StatusForbidden, "no")
	s.api.Refuse("core/v1/secrets", "a", 0, "")
	s.api.Set("core/v1/secrets", apitest.Item{Namespace: "a", Name: "key"})
	const query = "core/v1/secrets?ns=a&ns=b"
	s.waitForText("/api/v1/snapshot/"+query, `"key"`)
	a := s.get("/r/"+query, "Accept: text/html")
	if !strings.Contains(a.body, `class="coverage-note">Showing namespace a only (no access to others).</p>`) {
		t.Errorf("the page does not contain the coverage note: %s", a.body)
	}
}

func TestSnapshotHasTheRequestedFormat(t *testing.T) {
	s := newSite(t)
	path := "/api/v1/snapshot/" + podsRef
	const row = `{"ns":"a","name":"web-1","uid":"a/web-1","rv":"103","created":"2026-11-21T10:00:00Z",` +
		`"verdict":{"severity":"failed","reason":"Pending","sentence":"Waiting to be scheduled"},` +
		`"cells":["web-1","Running","2026-11-21T10:00:00Z"]}`
	const object = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"a","uid":"a/web-1",` +
		`"resourceVersion":"103","labels":{"app":"web"},"creationTimestamp":"2026-11-21T10:00:00Z"},` +
		`"spec":{"note":"<b>"}}`
	for _, test := range []struct{ name, query, accept, kind, want string }{
		{"ndjson", "?q=web-1+a&ns=a&format=ndjson", "", "application/x-ndjson", row + "\n"},
		{"ndjson of objects", "?q=web-1&ns=a&format=ndjson&view=objects", "", "application/x-ndjson", object + "\n"},
		{
			"ndjson from Accept", "?q=web-1&ns=a", "text/html, application/x-ndjson;q=0.9", "application/x-ndjson",
			row + "\n",
		},
		{
			"csv", "?q=web-1&ns=a", "text/csv", "text/csv; charset=utf-8",
			"Namespace,Name,Status,Age,Severity,Why\na,web-1,Running,2026-11-21T10:00:00Z,failed,Waiting to be scheduled\n",
		},
		{
			"yaml", "?q=web-1&ns=a&view=objects", "application/yaml", "application/yaml",
			"---\napiVersion: v1\nkind: Pod\nmetadata:\n  creationTimestamp: \"2026-11-21T10:00:00Z\"\n  labels:\n   " +
				" app: web\n  name: web-1\n  namespace: a\n  resourceVersion: \"103\"\n  uid: a/web-1\nspec:\n  " +
				"note: <b>\n",
		},
		{"empty list as ndjson", "?q=none&format=ndjson", "", "application/x-ndjson", ""},
		{"empty list as csv", "?q=none&format=csv", "", "text/csv; charset=utf-8", "Namespace,Name,Status,Age\n"},
		{"parameter overrides Accept", "?q=none&format=ndjson", "text/csv", "application/x-ndjson", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			headers := []string{"X: y"}
			if test.accept != "" {
				headers = append(headers, "Accept: "+test.accept)
			}
			a := s.get(path+test.query, headers...)
			if a.status != http.StatusOK || a.header.Get("Content-Type") != test.kind || a.body != test.want {
				t.Errorf("got %d %s\n%s\nwant %s\n%s", a.status, a.header.Get("Content-Type"), a.body,
					test.kind, test.want)
			}
		})
	}

	var got struct {
		Resource, Kind, Cursor, State string
		Namespaced                    bool
		Total                         *int
		Columns                       []struct{ Name string }
		Rows, Objects                 []json.RawMessage
	}
	a := s.get(path)
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Resource != podsRef || got.Kind != "Pod" ||
		!got.Namespaced || got.Cursor == "" ||
		got.State != "live" || got.Total == nil || *got.Total != 3 || len(got.Rows) != 3 || len(got.Columns) != 3 ||
		got.Objects != nil {
		t.Errorf("snapshot is %s, error %v", a.body, err)
	}
	got.Cursor, got.Rows = "", nil
	a = s.get(path + "?limit=2&view=objects")
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Cursor != "" || *got.Total != 3 ||
		len(got.Objects) != 2 || got.Rows != nil {
		t.Errorf("snapshot with limit=2: got %s, error %v; want no cursor and the total", a.body, err)
	}

	// Only JSON can contain the state "forbidden". Other formats respond with an error.
	s.api.Refuse("core/v1/secrets", "", http.StatusForbidden, "you may not")
	s.waitForText("/api/v1/snapshot/core/v1/secrets", `"state":"forbidden"`)
	a = s.get("/api/v1/snapshot/core/v1/secrets")
	if !strings.Contains(a.body, `"state":"forbidden"`) ||
		!strings.Contains(a.body, `"total":null,"columns":[],"rows":[]`) || !strings.Contains(a.body, "you may not") {
		t.Errorf("snapshot of a forbidden resource is %s", a.body)
	}
	a = s.get("/api/v1/snapshot/core/v1/secrets?format=csv")
	s.wantProblem("csv of a forbidden resource", a, http.StatusForbidden, "List not available", "you may not")
}

// Invariant: I34.
func TestCSVEscapesFormulas(t *testing.T) {
	s := newSite(t)
	cells := []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "a=1", "", "x,\"y\"\nz"}
	for i, cell := range cells {
		text, err := json.Marshal([]any{fmt.Sprintf("w%02d", i), cell})
		if err != nil {
			t.Fatal(err)
		}
		s.api.Set(widgetsRef, apitest.Item{Name: fmt.Sprintf("w%02d", i), Cells: string(text)})
	}
	s.waitForLive(widgetsRef)
	a := s.get("/api/v1/snapshot/" + widgetsRef + "?format=csv")
	table, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil || len(table) != len(cells)+1 {
		t.Fatalf("got table %v, error %v", table, err)
	}
	if table[0][1] != "'=Odd" {
		t.Errorf("heading is %q, want the formula escaped", table[0][1])
	}
	for i, want := range []string{
		"'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "'\r=1", "'\n=1", "'＝1", "a=1", "", "x,\"y\"\nz",
	} {
		if got := table[i+1][1]; got != want {
			t.Errorf("cell %q: got %q, want %q", cells[i], got, want)
		}
	}
}

func TestObjectHasTheRequestedFormat(t *testing.T) {
	s := newSite(t)
	path := "/api/v1/object/" + podsRef + "/a/web-1"
	for _, test := range []struct{ query, accept, kind string }{
		{"", "*/*", "application/json"},
		{"", "text/csv", "application/json"},
		{"?format=yaml", "application/json", "application/yaml"},
		{"", "application/yaml", "application/yaml"},
	} {
		t.Run(test.query, func(t *testing.T) {
			a := s.get(path+test.query, "Accept: "+test.accept)
			var o struct{ Metadata struct{ Name string } }
			if err := yaml.Unmarshal([]byte(a.body), &o); err != nil || a.header.Get("Content-Type") != test.kind ||
				o.Metadata.Name != "web-1" {
				t.Errorf("%s with Accept %s: got %s %s, error %v; want %s",
					test.query, test.accept, a.header.Get("Content-Type"), a.body,
					err, test.kind)
			}
		})
	}
}

func TestEscapedNamesAreDecodedOnce(t *testing.T) {
	s := newSite(t)
	s.api.Set(widgetsRef, apitest.Item{Name: "system:node b"})
	for _, path := range []string{
		"/api/v1/object/" + widgetsRef + "/_/system%3Anode%20b", "/o/" + widgetsRef + "/_/system:node%20b",
	} {
		t.Run(path, func(t *testing.T) {
			s := s.forRow(t)
			if a := s.get(path); a.status != http.StatusOK || !strings.Contains(a.body, "system:node b") {
				t.Errorf("got %d %s, want the object", a.status, a.body)
			}
		})
	}
}

func TestResourcesAreRevalidatedWithETag(t *testing.T) {
	s := newSite(t)
	a := s.get("/api/v1/resources")
	var got struct {
		Resources []struct {
			Ref, Group, Kind, State string
			Count                   *int
			ShortNames, Categories  []string
		}
		Problems []any
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || len(got.Resources) != 4 || got.Problems == nil {
		t.Fatalf("got resources %s, error %v", a.body, err)
	}
	for _, r := range got.Resources {
		if r.Categories == nil || r.ShortNames == nil {
			t.Errorf("%s has null instead of an empty array: %s", r.Ref, a.body)
		}
		if r.Ref == podsRef && (r.State != "live" || r.Count == nil || *r.Count != 3 || r.Group != "core") {
			t.Errorf("resource of pods is %+v", r)
		}
	}
	etag := a.header.Get("ETag")
	if b := s.get("/api/v1/resources", "If-None-Match: "+etag); b.status != http.StatusNotModified || b.body != "" ||
		b.header.Get("ETag") != etag || etag == "" {
		t.Errorf("with the ETag %q: got %d %q, want 304", etag, b.status, b.body)
	}
	s.api.Set(podsRef, apitest.Item{Namespace: "a", Name: "new", Cells: `["new","Pending","1s"]`})
	s.waitForText("/api/v1/snapshot/"+podsRef, `"total":4`)
	if b := s.get("/api/v1/resources", "If-None-Match: "+etag); b.status != http.StatusOK ||
		b.header.Get("ETag") == etag {
		t.Error("ETag did not change after a pod was added")
	}
}

// Browsers can cache static files with a hash in their URL forever. They must revalidate other static files.
func TestStaticFilesAreCached(t *testing.T) {
	s := newSite(t)
	page := s.get("/r/"+podsRef, "Accept: text/html").body
	_, address, _ := strings.Cut(page, `src="/static/app.js`)
	address, _, _ = strings.Cut(address, `"`)
	for path, want := range map[string]string{
		"/static/app.js" + address:      "public, max-age=31536000, immutable",
		"/static/app.js":                "no-cache",
		"/static/app.js?v=0123456789ab": "no-cache",
		"/static/app.css":               "no-cache",
	} {
		t.Run(path, func(t *testing.T) {
			s := s.forRow(t)
			a := s.get(path)
			if got := a.header.Get("Cache-Control"); a.status != http.StatusOK || got != want || len(a.body) < 100 {
				t.Errorf("got %d, Cache-Control %q, want %q", a.status, got, want)
			}
		})
	}
	if kind := s.get("/static/app.js").header.Get("Content-Type"); !strings.HasPrefix(kind, "text/javascript") {
		t.Errorf("Content-Type of the script is %s", kind)
	}
}

func TestStaticFilesAreCompressed(t *testing.T) {
	s := newSite(t)
	if a := s.get("/static/app.js", "Accept-Encoding: gzip"); a.header.Get("Content-Encoding") != "gzip" ||
		!strings.Contains(a.header.Get("Vary"), "Accept-Encoding") {
		t.Errorf("headers are %v, want Content-Encoding gzip and Vary", a.header)
	}
}

func TestReadyzReportsReadyProgram(t *testing.T) {
	s := newSite(t)
	if a := s.get("/readyz"); a.status != http.StatusOK || a.body != "ok\n" {
		t.Errorf("got %d %s", a.status, a.body)
	}
}
