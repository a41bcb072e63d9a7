package templates_test

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/glasshouse-project/glasshouse/web/templates"
)

func render(t *testing.T, page templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := page.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func podList() templates.List {
	cell := func(text string) templates.Cell { return templates.Cell{Text: text} }
	total := 10020
	return templates.List{
		Layout: templates.Layout{Title: "pods", Cluster: "demo"},
		Ref:    "core/v1/pods", Kind: "Pod", Resource: "pods", Href: "/r/core/v1/pods", Namespaced: true,
		Columns: []templates.Column{
			{Name: "Name"}, {Name: "Status"}, {Name: "Restarts", Relative: true}, {Name: "Node", Priority: 1},
		},
		ShowsWhy: true,
		Rows: []templates.Row{
			{
				Namespace: "big",
				Name:      "web-1",
				Href:      "/o/core/v1/pods/big/web-1",
				Cells: []templates.Cell{
					cell("web-1"), cell("Running"),
					{Text: "3 (5m ago)", Wire: "3 (2026-11-21T10:00:00Z ago)"},
					cell("node-1"),
				},
			},
			{
				Namespace: "big",
				Name:      "web-2",
				Href:      "/o/core/v1/pods/big/web-2",
				Severity:  "failed",
				Why:       `Container <app>: CrashLoopBackOff, last exit "1"`,
				Cells: []templates.Cell{
					cell("web-2"), cell(`<b>"it's" & javascript:x`), {Text: "0", Wire: "0"}, cell(""),
				},
			},
			{
				Namespace: "big",
				Name:      "web-3",
				Href:      "/o/core/v1/pods/big/web-3",
				Severity:  "progressing",
				Why:       "progressing",
				Cells: []templates.Cell{
					cell("web-3"),
					cell("a\u202e\u2066b\u200b\x1b[31m<c>" + strings.Repeat("\u200bd", 32)),
					{Text: "1", Wire: "1"},
					cell(""),
				},
			},
		},
		Total: &total,
		At:    "2026-11-21T10:05:00Z",
		State: templates.State{State: "live"},
	}
}

var update = flag.Bool("update", false, "rewrite testdata")

// TestRowsMatchTheScript compares rendered rows with files in testdata. Tests of the script in
// web/test/list/row.test.ts and web/test/status/watch-status.test.tsx compare its rows with the same files.
func TestRowsMatchTheScript(t *testing.T) {
	cells := []templates.Cell{{Text: "3", Wire: "3"}, {Text: "4s ago", Wire: "2026-11-21T10:04:56Z ago"}}
	scope := templates.Scope{
		Href: "/r/core/v1/pods?ns=shop", Resource: "pods", Group: "core/v1", Scope: "shop", Cells: cells,
	}
	stale, live := scope, scope
	stale.State, stale.Status, stale.Reason =
		"stale", templates.Cell{Text: "Stale for 10s", Wire: "Stale for 2026-11-21T10:04:50Z"}, "<b>ended</b>"
	live.State, live.Status = "live", templates.Cell{Text: "Live for 10s", Wire: "Live for 2026-11-21T10:04:50Z"}
	for _, test := range []struct {
		name, body string
		page       templ.Component
	}{
		{"rows.html", `<tbody id="tbody">`, templates.ListPage(podList())},
		{
			"scopes.html",
			`<tbody id="scopes">`,
			templates.StatusPage(templates.Status{Scopes: []templates.Scope{stale, live}}),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, rows, _ := strings.Cut(render(t, test.page), test.body)
			rows, _, found := strings.Cut(rows, "</tbody>")
			if !found {
				t.Fatal("the page has no rows")
			}
			rows = strings.ReplaceAll(rows, "</tr>", "</tr>\n")
			file := filepath.Join("testdata", test.name)
			if *update {
				if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if rows != string(want) {
				t.Errorf("rows are %s\nwant %s", rows, want)
			}
		})
	}
}

func TestListPageShowsItsState(t *testing.T) {
	zero := 0
	for _, test := range []struct {
		name     string
		edit     func(*templates.List)
		want     []string
		unwanted []string
	}{
		{
			"rows",
			func(*templates.List) {},
			[]string{
				"first 3 of 10,020",
				"As of 2026-11-21T10:05:00Z",
				">Namespace</a></th>",
				`data-column="2" data-number><a`,
				`href="/o/core/v1/pods/big/web-1"`,
				`name="labels"`,
			},
			[]string{"node-1", ">Live<", "No Pods"},
		},
		{"wide", func(l *templates.List) { l.Query.Columns = []string{"wide"} }, []string{"node-1", "checked"}, nil},
		{
			"namespaces, sort order and columns",
			func(l *templates.List) {
				l.Query.Columns, l.DefaultColumns = []string{"node"}, "/r/core/v1/pods?sort=-name"
				l.KeptParams = []templates.Parameter{{Name: "sort", Value: "-name"}, {Name: "cols", Value: "node"}}
			},
			[]string{
				`type="hidden" name="sort" value="-name"`,
				`type="hidden" name="cols" value="node"`,
				`<a class="wide" href="/r/core/v1/pods?sort=-name">Default columns</a>`,
			},
			[]string{`id="wide"`},
		},
		{
			"selected columns",
			func(l *templates.List) {
				l.Query.Columns = []string{"node", "restarts"}
			},
			[]string{"node-1", "3 (5m ago)", ">web-1</a>"},
			[]string{">Status</a></th>", ">Namespace</a></th>"},
		},
		{
			"selected columns with the namespace",
			func(l *templates.List) {
				l.Query.Columns = []string{"namespace"}
			},
			[]string{">web-1</a>", ">Namespace</a></th>"},
			[]string{">Status</a></th>"},
		},
		{
			"one namespace",
			func(l *templates.List) {
				l.Query.Namespaces = []string{"big"}
			},
			[]string{`value="big"`},
			[]string{">Namespace</a></th>"},
		},
		{
			"several namespaces",
			func(l *templates.List) {
				l.Query.Namespaces = []string{"a", "b"}
			},
			[]string{`value="a,b"`, ">Namespace</a></th>"},
			nil,
		},
		{
			"time is not a link",
			func(l *templates.List) {
				l.Columns[0] = templates.Column{Name: "Last Seen", Relative: true}
			},
			[]string{`href="/o/core/v1/pods/big/web-1">Running</a>`},
			nil,
		},
		{
			"extra column",
			func(l *templates.List) {
				l.Columns[2] = templates.Column{Name: "Last change", Relative: true, IsExtra: true}
			},
			[]string{`<th scope="col" aria-sort="none" data-column="2">`, `<td data-wire="`},
			[]string{"data-number data-wire"},
		},
		{
			"sorted",
			func(l *templates.List) {
				l.Query.Sort = "-status"
			},
			[]string{`aria-sort="descending" data-column="1"`},
			[]string{`aria-sort="ascending"`},
		},
		{
			"unknown count is not zero",
			func(l *templates.List) {
				l.Total = nil
			},
			[]string{"first 3</span>"},
			[]string{`class="count">0<`},
		},
		{
			"empty",
			func(l *templates.List) {
				l.Rows, l.Total = nil, &zero
			},
			[]string{"No Pods<", "<p>New ones appear here automatically.</p>"},
			nil,
		},
		{
			"no matching rows",
			func(l *templates.List) {
				l.Rows, l.Total, l.Query.Q = nil, &zero, "x"
			},
			[]string{
				"No Pods match the selected namespaces and filters", "<p>New ones appear here automatically.</p>",
				"Clear filters",
			},
			nil,
		},
		{
			"forbidden",
			func(l *templates.List) {
				l.Rows, l.Total, l.State = nil, nil, templates.State{State: "forbidden", Reason: "anna may not"}
			},
			[]string{
				"Forbidden: you cannot list Pods",
				"anna may not",
				"Select a namespace that you can read, or ask your cluster admin for list and watch access.",
				`class="count"></span>`,
			},
			[]string{"No Pods", "first 0", "all namespaces that you can list"},
		},
		{
			"forbidden cluster-scoped resource",
			func(l *templates.List) {
				l.Rows, l.Total, l.State, l.Namespaced =
					nil, nil, templates.State{State: "forbidden", Reason: "anna may not"}, false
			},
			[]string{
				"<p>Ask your cluster admin for list and watch access.</p>",
				"<p>Check with: kubectl auth can-i list pods</p>",
			},
			[]string{"Select a namespace"},
		},
		{
			"forbidden in the selected namespace",
			func(l *templates.List) {
				l.Rows, l.Total, l.State, l.Query.Namespaces =
					nil, nil, templates.State{State: "forbidden", Reason: "anna may not"}, []string{"payments"}
			},
			[]string{
				"<p>Ask your cluster admin for list and watch access, or</p><p><a href=\"/r/core/v1/pods\">Show Pods " +
					"in all namespaces where you can list them</a></p><p>Check with: kubectl auth can-i list pods -n payments</p>",
			},
			[]string{"Select a namespace"},
		},
		{
			"forbidden for a guest",
			func(l *templates.List) {
				l.Rows, l.Total, l.State, l.Guest =
					nil, nil, templates.State{State: "forbidden", Reason: "not shared"}, &templates.Guest{}
			},
			[]string{"Forbidden: you cannot list Pods", "<p>not shared</p>"},
			[]string{"cluster admin", "Select a namespace", "all namespaces that you can list"},
		},
		{
			"forbidden for a guest with selected namespaces",
			func(l *templates.List) {
				l.Rows, l.Total, l.State, l.Guest =
					nil, nil, templates.State{State: "forbidden", Reason: "not shared"}, &templates.Guest{}
				l.Query.Namespaces = []string{"payments"}
			},
			[]string{"Show Pods in all namespaces where you can list them"},
			[]string{"cluster admin"},
		},
		{"failed with rows", func(l *templates.List) {
			l.Rows, l.Total, l.State = nil, &zero, templates.State{State: "forbidden"}
		}, []string{`class="count"></span>`}, nil},
		{"failed", func(l *templates.List) {
			l.Rows, l.Total, l.State = nil, nil, templates.State{State: "failed", Reason: "no route"}
		}, []string{"Failed to load Pods", "no route", `class="count"></span>`}, nil},
		{
			"stale and empty",
			func(l *templates.List) {
				l.Rows, l.Total, l.State = nil, &zero, templates.State{
					State: "stale", Since: "2026-11-21T10:00:00Z", Reason: "connection refused",
				}
			},
			[]string{
				"No Pods at the last update",
				"<p>Stale since 2026-11-21T10:00:00Z: connection refused. There were no Pods at the last update. " +
					"This may have changed.</p>",
				"Refresh",
			},
			[]string{"New ones appear"},
		},
		{
			"stale and no matching rows",
			func(l *templates.List) {
				l.Rows, l.Total, l.State, l.Query.Q = nil, &zero, templates.State{State: "stale"}, "x"
			},
			[]string{
				"No Pods at the last update",
				"<p>Stale. There were no Pods with the selected namespaces and filters at the last update. " +
					"This may have changed.</p>",
				"Clear filters",
			},
			[]string{"No Pods match "},
		},
		{
			"some namespaces",
			func(l *templates.List) {
				l.State.Namespaces = []string{"big", "shop"}
			},
			[]string{`class="coverage-note">Showing namespaces big, shop only (no access to others).</p>`},
			nil,
		},
		{"some namespaces, for another reason", func(l *templates.List) {
			l.State.Namespaces, l.State.Reason = []string{"shop"}, "a <b> is away"
		}, []string{`class="coverage-note">Showing namespace shop only: a &lt;b&gt; is away</p>`}, nil},
		{"all namespaces", func(*templates.List) {}, []string{`class="coverage-note" hidden></p>`}, nil},
		{
			"some namespaces, empty",
			func(l *templates.List) {
				l.Rows, l.Total, l.State.Namespaces = nil, &zero, []string{"shop"}
			},
			[]string{
				`class="coverage-note" hidden></p>`,
				"<p>Showing namespace shop only (no access to others). New ones appear",
			},
			[]string{"<p>New ones appear"},
		},
		{"some namespaces, no matching rows", func(l *templates.List) {
			l.Rows, l.Total, l.State.Namespaces, l.Query.Q = nil, &zero, []string{"shop"}, "x"
		}, []string{"filters</h2><p>Showing namespace shop only (no access to others). New ones appear"}, nil},
		{
			"unknown columns",
			func(l *templates.List) {
				l.Query.Sort, l.Query.Columns = "-Colour", []string{"a<b", "node", "Weight"}
			},
			[]string{
				`class="coverage-note">No column “colour” to sort by, and no column “a&lt;b” or “weight” to show. ` +
					`Available: namespace, name, status, restarts, node.</p>`,
				`>web-1</a>`,
				"node-1",
			},
			nil,
		},
		{
			"unknown column, some namespaces",
			func(l *templates.List) {
				l.Query.Columns, l.State.Namespaces = []string{"weight"}, []string{"shop"}
			},
			[]string{
				`class="coverage-note">No column “weight” to show. Available: namespace, name, status, restarts, ` +
					`node. Showing namespace shop only (no access`,
			},
			nil,
		},
		{
			"namespace that does not exist",
			func(l *templates.List) {
				l.Query.Namespaces, l.Namespaces, l.NamespacesState.State =
					[]string{"big", "nope", "none"}, []string{"big", "shop"}, "live"
			},
			[]string{`class="coverage-note">Namespaces nope and none do not exist.</p>`},
			nil,
		},
		{
			"namespace that did not exist",
			func(l *templates.List) {
				l.Query.Namespaces, l.Namespaces, l.NamespacesState = []string{"big", "nope"}, []string{"big"}, templates.State{
					State: "stale", Since: "2026-11-21T10:00:00Z",
				}
			},
			[]string{`class="coverage-note">Namespace nope did not exist at 2026-11-21T10:00:00Z.</p>`},
			nil,
		},
		{
			"namespace that did not exist, during loading",
			func(l *templates.List) {
				l.Query.Namespaces, l.Namespaces, l.NamespacesState = []string{"big", "nope"}, []string{"big"}, templates.State{
					State: "syncing", Since: "2026-11-21T10:00:00Z",
				}
			},
			[]string{`class="coverage-note">Namespace nope did not exist at the last update.</p>`},
			nil,
		},
		{
			"namespaces that are not known yet",
			func(l *templates.List) {
				l.Query.Namespaces = []string{"big", "nope"}
			},
			[]string{`class="coverage-note" hidden`},
			nil,
		},
		{
			"valid columns",
			func(l *templates.List) {
				l.Query.Sort, l.Query.Columns = "namespace", []string{"wide"}
			},
			[]string{`class="coverage-note" hidden`},
			nil,
		},
		{"syncing", func(l *templates.List) {
			l.Rows, l.Total, l.State = nil, nil, templates.State{State: "syncing", Count: new(3400)}
		}, []string{"Loading Pods…", "Loading, 3,400 so far", `class="count"></span>`}, []string{"No Pods"}},
		{
			"invalid selector",
			func(l *templates.List) {
				l.State, l.Problem =
					templates.State{}, &templates.Problem{Status: 400, Title: "The selector cannot be read"}
			},
			[]string{"The selector cannot be read"},
			[]string{"Not loaded yet"},
		},
		{"not loaded yet", func(l *templates.List) { l.State = templates.State{} }, []string{"Not loaded yet"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := podList()
			test.edit(&l)
			html := render(t, templates.ListPage(l))
			for _, want := range test.want {
				if !strings.Contains(html, want) {
					t.Errorf("the page does not contain %q:\n%s", want, html)
				}
			}
			for _, unwanted := range test.unwanted {
				if strings.Contains(html, unwanted) {
					t.Errorf("the page contains %q", unwanted)
				}
			}
		})
	}
}

// The pages escape every text, and contain no inline scripts or styles.
//
// Invariant: I34. The page never interprets text of the cluster as markup. It shows invisible characters. A character
// that changes the text direction affects only the value that contains it. Exports escape text that a spreadsheet would
// run as a formula. No script or style sheet names another host, except in a link to documentation.
func TestTextIsEscaped(t *testing.T) {
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>' onclick='x`
	list, object, compare, status, failure :=
		templates.List{}, templates.Object{}, templates.Compare{}, templates.Status{}, templates.Failure{}
	for _, v := range []any{&list, &object, &compare, &status, &failure} {
		poison(reflect.ValueOf(v).Elem(), hostile)
	}
	emptyList, readable := list, object
	emptyList.Rows, readable.Problem = nil, nil
	inline := regexp.MustCompile(`(?i)<script>|<img|<[^>]*\s(style|on[a-z]+)=|javascript:`)
	for name, page := range map[string]templ.Component{
		"list": templates.ListPage(list), "empty list": templates.ListPage(emptyList),
		"object": templates.ObjectPage(readable), "no object": templates.ObjectPage(object),
		"compare": templates.ComparePage(compare), "status": templates.StatusPage(status),
		"problem": templates.ProblemPage(failure),
	} {
		t.Run(name, func(t *testing.T) {
			html := render(t, page)
			// Hostile text in a quoted attribute value has no effect, so remove these values before the search for inline
			// scripts and styles.
			withoutAttributes := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(html, `""`)
			if match := inline.FindString(withoutAttributes); match != "" {
				t.Errorf("the page contains %q", match)
			}
			if strings.Contains(html, hostile) {
				t.Error("the payload is not escaped")
			}
		})
	}
}

// poison sets every string in v to text, and gives every slice and pointer a value.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		for _, field := range v.Fields() {
			poison(field, text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		poison(v.Index(0), text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		poison(v.Elem(), text)
	default: // Numbers and booleans cannot contain the text.
	}
}

func TestResourcesAreGroupedIntoSections(t *testing.T) {
	s := templates.NewSections()
	kinds := []templates.Kind{
		{Group: "example.com", Resource: "widgets"},
		{Group: "core", Resource: "nodes"},
		{Group: "cert-manager.io", Resource: "issuers"},
		{Group: "apps", Resource: "deployments"},
		{Group: "core", Resource: "pods"},
		{Group: "cert-manager.io", Resource: "certificates"},
		{Group: "core", Resource: "secrets"},
	}
	var got []string
	for _, g := range s.Groups(kinds, map[string]string{"metrics.k8s.io": "away", "cert-manager.io": "half"}) {
		line := []string{g.Name + ":"}
		for _, k := range g.Kinds {
			line = append(line, k.Resource)
		}
		got = append(got, strings.TrimSpace(strings.Join(append(line, g.Problem), " ")))
	}
	want := []string{
		"Cluster: nodes",
		"Workloads: pods deployments",
		"Config: secrets",
		"cert-manager.io: certificates issuers half",
		"example.com: widgets",
		"metrics.k8s.io: away",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("groups = %q\nwant %q", got, want)
	}
}

// The page of a guest shows only what the link shares, and has no links to other content.
func TestGuestPageShowsOnlySharedContent(t *testing.T) {
	kind := func(resource string) templates.Kind {
		return templates.Kind{
			Ref:      "core/v1/" + resource,
			Href:     "/r/core/v1/" + resource,
			Group:    "core",
			Kind:     resource,
			Resource: resource,
		}
	}
	const picker = `popover hidden>`
	guest := &templates.Guest{
		Expires: "2026-11-21T14:03:00Z",
		Start:   "/r/core/v1/pods?ns=a",
		Leave:   "/share/leave",
		Note:    "<b>for Anna</b>",
		Parts:   `[{"resource":"core/v1/pods"}]`,
	}
	for _, test := range []struct {
		name     string
		kinds    []templates.Kind
		single   bool
		want     []string
		unwanted []string
	}{
		{"one resource", []templates.Kind{kind("pods")}, false, []string{
			"Shared with you, read-only", `datetime="2026-11-21T14:03:00Z">2026-11-21 14:03 UTC</time>`,
			"&lt;b&gt;for Anna&lt;/b&gt;", `action="/share/leave"`, `href="/r/core/v1/pods?ns=a"`, picker,
			"data-shared", `name="referrer"`,
		}, []string{"/status", ">Share<", "<b>for", "Log out"}},
		{
			"several resources",
			[]templates.Kind{kind("pods"), kind("services")},
			false,
			[]string{"Shared with you"},
			[]string{"/status", picker},
		},
		{"one object and its events", []templates.Kind{kind("pods"), kind("events")}, true, []string{picker}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := podList()
			guestCopy := *guest
			guestCopy.SingleObject = test.single
			page.Layout = templates.Layout{
				Title: "pods", Guest: &guestCopy, Groups: []templates.Group{{Name: "Workloads", Kinds: test.kinds}},
			}
			got := render(t, templates.ListPage(page))
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("the page does not contain %s: %s", want, got)
				}
			}
			for _, unwanted := range test.unwanted {
				if strings.Contains(got, unwanted) {
					t.Errorf("the page contains %s", unwanted)
				}
			}
		})
	}
	crumbs := templates.Object{
		Layout: templates.Layout{Guest: &templates.Guest{SingleObject: true}},
		Crumbs: []templates.Crumb{{Text: "pods", Href: "/r/core/v1/pods"}, {Text: "web-1"}},
	}
	if got := render(t, templates.ObjectPage(crumbs)); strings.Contains(got, `href="/r/core/v1/pods"`) {
		t.Error("the page of a single shared object links to a list")
	}
}

// Without JavaScript, an object's page links to its comparison, but not for guests.
func TestObjectPageLinksToCompare(t *testing.T) {
	object := templates.Object{Compare: "/compare?a=core%2Fv1%2Fnodes%2F_%2Fa"}
	const link = `<a class="unscripted" href="/compare?a=core%2Fv1%2Fnodes%2F_%2Fa">`
	if got := render(t, templates.ObjectPage(object)); !strings.Contains(got, link) {
		t.Errorf("%s is missing in %s", link, got)
	}
	object.Guest = &templates.Guest{}
	if got := render(t, templates.ObjectPage(object)); strings.Contains(got, "/compare") {
		t.Errorf("a guest's page links to compare: %s", got)
	}
}

// A guest may not see the watched resources, so the page has no rows. It must not state that nothing is watched.
func TestGuestStatusPageHasNoRows(t *testing.T) {
	page := templates.Status{Memory: "0 B cached, no limit"}
	if got := render(t, templates.StatusPage(page)); !strings.Contains(got, "Nothing is watched") ||
		!strings.Contains(got, page.Memory) {
		t.Errorf("status page without watched resources: got %s", got)
	}
	page.Guest = &templates.Guest{}
	if got := render(t, templates.StatusPage(page)); !strings.Contains(got, "not shared with you") ||
		strings.Contains(got, "Nothing is watched") || strings.Contains(got, page.Memory) {
		t.Errorf("status page of a guest: got %s", got)
	}
}

// In kiosk mode, links to pages have the kiosk parameter, but links to the API do not.
func TestKioskModeStaysInPageLinks(t *testing.T) {
	page := podList()
	page.Next = "/r/core/v1/pods?from=100"
	page.Assets.KioskStyle = "/static/kiosk.css"
	page.Exports = []templates.Export{{Href: "/api/v1/snapshot/core/v1/pods?format=csv"}}
	var b strings.Builder
	if err := templates.ListPage(page).Render(
		templates.WithKiosk(templates.WithBasePath(t.Context(), "/base")), &b,
	); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		" data-kiosk",
		`href="/base/o/core/v1/pods/big/web-1?kiosk=1"`,
		`href="/base/r/core/v1/pods?from=100&amp;kiosk=1"`,
		`name="kiosk" value="1"`,
		`<link rel="stylesheet" href="/base/static/kiosk.css">`,
		`href="/base/api/v1/snapshot/core/v1/pods?format=csv"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not contain %s", want)
		}
	}
	if strings.Contains(render(t, templates.ListPage(page)), "kiosk") {
		t.Error("a page without kiosk mode contains \"kiosk\"")
	}
}

// web/test/model/status.test.ts has the same cases.
func TestEmptyNoteMatchesTheScript(t *testing.T) {
	zero := 0
	live := templates.State{State: "live"}
	for name, test := range map[string]struct {
		change templates.List
		want   string
	}{
		"no objects": {
			templates.List{State: live}, "<h2>No Pods</h2><p>New ones appear here automatically.</p>",
		},
		"no matches": {
			templates.List{State: live, Query: templates.Query{Namespaces: []string{"a"}}},
			"<h2>No Pods match the selected namespaces and filters</h2><p>New ones appear here automatically.</p>",
		},
		"not served": {
			templates.List{State: templates.State{State: "absent", Reason: "Not served."}},
			"<h2>Pods are not available in this cluster</h2><p>Not served.</p>" +
				"<p>They appear here automatically once their API is installed.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			list := podList()
			list.Rows, list.Total, list.State, list.Query = nil, &zero, test.change.State, test.change.Query
			if got := render(t, templates.ListPage(list)); !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
