package page

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/cellsort"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

const (
	pageRows = 100
	// pageWait limits the wait for a list: enough for some hundred objects, too short for users to notice.
	pageWait = 250 * time.Millisecond
)

// List renders the page with the list of a resource.
func (s *Site) List(w http.ResponseWriter, r *http.Request) error {
	query, values, err := request.QueryOf(r, "sort", "cols", "from", "open", "tab", "container", "previous", "filter",
		"find", "activity", "at", "kiosk")
	if err != nil {
		return err
	}
	access := s.Reader.Access(r)
	resource, err := access.Resource(r.Context(), query.Resource)
	if err != nil {
		return err
	}
	page := templates.List{
		Ref: resource.Ref(), Kind: resource.Kind, Resource: resource.Resource, Href: "/r/" + resource.Ref(),
		Plural: pluralOf(access, resource), Namespaced: resource.Namespaced,
		At: time.Now().UTC().Format(time.RFC3339), Limit: s.PageRows,
		Query: templates.Query{
			Namespaces: query.Namespaces, Q: query.Text, Labels: query.Labels,
			Sort: cmp.Or(cellsort.Lower(values.Get("sort")), defaultSort(resource.Ref())), Columns: values["cols"],
		},
	}
	page.Namespaces, page.NamespacesState = s.namespaces(r)
	if page.From, err = request.NumberOf(values, "from"); err != nil {
		return err
	}
	query.Sort, query.Offset, query.Limit = cmp.Or(page.Query.Sort, "auto"), page.From, pageRows
	status := http.StatusOK
	snapshot, err := access.Snapshot(r.Context(), query, pageWait)
	if err != nil {
		p := request.ProblemFor(request.IdentityOf(r).Viewer, err)
		if p.Status == http.StatusInternalServerError {
			return err
		}
		status = p.Status
		page.Problem = &templates.Problem{
			Status: p.Status, Title: p.Title, Detail: p.Detail, Next: []templates.Link{
				{Text: "Clear filters", Href: page.Href},
			},
		}
		// Guests get no link to the list of namespaces, because they can rarely read it. static/src/model/status.ts has
		// the same rule.
		if p.Title == "Unknown namespace" && request.GuestOf(r) == nil {
			page.Problem.Next = []templates.Link{{Text: "View namespaces", Href: "/r/core/v1/namespaces"}}
		}
	} else if err := fillList(&page, snapshot); err != nil {
		return err
	}
	title := page.Plural
	if ref, ns, name := openObject(values.Get("open")); name != "" {
		if ref != "" {
			title = ref[strings.LastIndexByte(ref, '/')+1:]
		}
		title = titleOf(title, ns, name)
		page.OpenObject = templates.Link{
			Text: strings.TrimPrefix(ns+"/"+name, "/"), Href: request.ObjectPath(cmp.Or(ref, page.Ref), ns, name),
		}
	}
	page.Layout = s.layout(r, title, resource.Ref(), query.Namespaces...)
	views := []string{"pages"}
	if page.OpenObject.Text != "" {
		views = append(views, "panel")
	}
	page.Assets.Chunks = s.Assets.Chunks(views...)
	page.Exports = exportsOf(&page, values)
	page.KeptParams = keptParamsOf(values)
	linkList(&page, values)
	return response.HTML(w, r, status, templates.ListPage(page))
}

// openObject parses the query parameter "open": namespace/name, or group/version/resource/namespace/name for an object
// that the list does not show. The name is empty if the parameter is not valid. view.ts has the same rule.
func openObject(text string) (ref, namespace, name string) {
	segments := strings.Split(text, "/")
	at := len(segments) - 2
	if at != 0 && at != 3 || slices.Contains(segments, "") {
		return "", "", ""
	}
	return strings.Join(segments[:at], "/"), strings.TrimPrefix(segments[at], "_"), segments[at+1]
}

// defaultSort returns the sort column of a list without the query parameter "sort". For Events, the newest are first.
// view.ts has the same rule.
func defaultSort(ref string) string {
	if isEvents(ref) {
		return "last seen"
	}
	return ""
}

// isEvents reports whether a ref is that of the events about objects. Two API groups serve the same events.
func isEvents(ref string) bool { return ref == "core/v1/events" || ref == "events.k8s.io/v1/events" }

func fillList(page *templates.List, snapshot *watch.Snapshot) error {
	page.State = stateOf(snapshot.Status)
	if snapshot.IsWorstFirst {
		page.Query.Sort = "severity"
	}
	if snapshot.Synced {
		page.Total = &snapshot.Total
	}
	for _, column := range snapshot.Columns {
		page.Columns = append(page.Columns, templates.Column{
			Name: column.Name, Type: column.Type, Priority: int(column.Priority), Relative: column.Relative,
			IsExtra: column.IsExtra,
		})
	}
	page.From = min(page.From, max(snapshot.Total, 1)-1)
	now := time.Now()
	for _, o := range snapshot.Objects {
		row := templates.Row{
			Namespace: o.Namespace(), Name: o.Name(),
			Href: request.ObjectPath(page.Ref, o.Namespace(), o.Name()),
		}
		cells, err := response.CellTexts(o, snapshot)
		if err != nil {
			return err
		}
		row.Cells = make([]templates.Cell, len(page.Columns))
		// For Events, do not show the column with the reason of the verdict: the reason is the message of the Event, which
		// already has a column.
		hasWhy := o.Verdict().Severity() != verdict.None && !isEvents(page.Ref)
		page.ShowsWhy = page.ShowsWhy || hasWhy
		if v := o.Verdict().Unpack(); v.Severity > verdict.OK {
			row.Severity, row.Why = v.Severity.String(), v.Why()
		}
		for i := range cells {
			row.Cells[i].Text = snapshot.Columns[i].ElapsedText(cells[i], now)
			if snapshot.Columns[i].Relative {
				row.Cells[i].Wire = cells[i]
			}
		}
		page.Rows = append(page.Rows, row)
	}
	return nil
}

// keptParamsOf returns the query parameters that the filter form keeps in hidden fields. It omits the parameter "from",
// so that a list with a changed filter starts at its first row.
func keptParamsOf(values url.Values) []templates.Parameter {
	var kept []templates.Parameter
	for _, name := range []string{
		"sort", "cols", "open", "tab", "container", "previous", "filter", "find", "activity",
	} {
		if name == "cols" && slices.Equal(values[name], []string{"wide"}) {
			continue
		}
		for _, value := range nonEmpty(values, name)[name] {
			kept = append(kept, templates.Parameter{Name: name, Value: value})
		}
	}
	return kept
}

func nonEmpty(values url.Values, names ...string) url.Values {
	out := url.Values{}
	for _, name := range names {
		for _, value := range values[name] {
			if value != "" {
				out.Add(name, value)
			}
		}
	}
	return out
}

// linkList sets the links to sort a list and to open its previous or next rows, for browsers without JavaScript.
func linkList(page *templates.List, values url.Values) {
	link := func(name, value string) string {
		query := nonEmpty(values, "ns", "labels", "q", "sort", "cols", "open", "tab", "container", "previous",
			"filter", "find", "activity")
		if query.Set(name, value); value == "" {
			query.Del(name)
		}
		if len(query) == 0 {
			return page.Href
		}
		return page.Href + "?" + query.Encode()
	}
	// nextSort returns the link of a column header. Repeated clicks sort ascending, then descending, then not at all.
	nextSort := func(column string) string {
		switch page.Query.Sort {
		case column:
			return link("sort", "-"+column)
		case "-" + column:
			return link("sort", "")
		}
		return link("sort", column)
	}
	page.SortNamespace, page.SortSeverity = nextSort("namespace"), nextSort("severity")
	page.DefaultColumns = link("cols", "")
	for i := range page.Columns {
		page.Columns[i].Sort = nextSort(strings.ToLower(page.Columns[i].Name))
	}
	if page.From > 0 {
		page.Previous = link("from", formatOffset(max(0, page.From-pageRows)))
	}
	if next := page.From + len(page.Rows); page.Total != nil && next < *page.Total {
		page.Next = link("from", formatOffset(next))
	}
}

func formatOffset(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// exportsOf returns the export links of a list: rows or objects, in each format. When the user changes a filter,
// web/static/src/list/exports.ts updates the links.
func exportsOf(page *templates.List, values url.Values) []templates.Export {
	exists := func(name string) bool {
		return len(page.Columns) == 0 || strings.EqualFold(name, "namespace") ||
			slices.ContainsFunc(page.Columns, func(c templates.Column) bool { return strings.EqualFold(c.Name, name) })
	}
	cols := values["cols"]
	isWide := len(cols) == 1 && cols[0] == "wide"
	switch {
	case !isWide:
		cols = slices.DeleteFunc(slices.Clone(cols), func(name string) bool { return !exists(name) })
	// The API's "wide" does not contain the extra columns.
	case slices.ContainsFunc(page.Columns, func(c templates.Column) bool { return c.IsExtra }):
		cols = []string{"namespace"}
		for i := range page.Columns {
			cols = append(cols, strings.ToLower(page.Columns[i].Name))
		}
	}
	query := nonEmpty(values, "ns", "labels", "q", "sort")
	exports := []templates.Export{
		{View: "rows", Format: "csv", Text: "Rows as CSV"},
		{View: "rows", Format: "json", Text: "Rows as JSON"},
		{View: "objects", Format: "json", Text: "Objects as JSON"},
		{View: "objects", Format: "ndjson", Text: "Objects as NDJSON"},
		{View: "objects", Format: "yaml", Text: "Objects as YAML"},
	}
	for i, e := range exports {
		query := maps.Clone(query)
		query.Set("format", e.Format)
		query.Set("view", e.View)
		if e.View == "rows" {
			query["cols"] = []string{"usual"}
			if len(cols) > 0 {
				query["cols"] = cols
			}
		}
		exports[i].Href = "/api/v1/snapshot/" + page.Ref + "?" + query.Encode()
	}
	return exports
}
