package web

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/cellsort"
	"glasshouse/internal/web/auth"
	"glasshouse/web/templates"
)

const (
	// pageRows is the number of rows in the HTML of a page.
	pageRows = 100
	// pageWait is how long a page waits for a first list. This is enough for a resource with some hundred objects, and
	// too short to be noticed.
	pageWait = 250 * time.Millisecond
)

// home redirects to the pods, because most users want to see them first. It redirects guests to the page that their
// link shares.
func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	path := "/r/core/v1/pods"
	if ns := s.clusterOf(r).Namespace; ns != "" {
		path += "?ns=" + url.QueryEscape(ns)
	}
	if guest := guestOf(r); guest != nil {
		path = guest.Share.To
	}
	if isKiosk(r) {
		path = templates.KioskRoute(path)
	}
	http.Redirect(w, r, s.base.At(path), http.StatusSeeOther)
	return nil
}

// listPage renders the page of one resource, with its first rows.
func (s *Server) listPage(w http.ResponseWriter, r *http.Request) error {
	query, values, err := queryOf(r, "sort", "cols", "from", "open", "tab", "container", "previous", "at", "kiosk")
	if err != nil {
		return err
	}
	access := s.access(r)
	resource, err := access.Resource(r.Context(), query.Resource)
	if err != nil {
		return err
	}
	page := templates.List{
		Ref: resource.Ref(), Kind: resource.Kind, Resource: resource.Resource, Href: "/r/" + resource.Ref(),
		Namespaced: resource.Namespaced, At: time.Now().UTC().Format(time.RFC3339), Limit: s.pageRows,
		Query: templates.Query{
			Namespaces: query.Namespaces, Q: query.Text, Labels: query.Labels, Sort: cellsort.Lower(values.Get("sort")),
			Columns: values["cols"],
		},
	}
	page.Namespaces, page.NamespacesState = s.namespaces(r)
	if page.From, err = numberOf(values, "from"); err != nil {
		return err
	}
	query.Sort, query.Offset, query.Limit = page.Query.Sort, page.From, pageRows
	status := http.StatusOK
	snapshot, err := access.Snapshot(r.Context(), query, pageWait)
	if err != nil {
		p := problemFor(identityOf(r).Viewer, err)
		if p.Status == http.StatusInternalServerError {
			return err
		}
		status = p.Status
		page.Problem = &templates.Problem{
			Status: p.Status, Title: p.Title, Detail: p.Detail, Next: []templates.Link{
				{Text: "Clear filters", Href: page.Href},
			},
		}
	} else if err := fillList(&page, snapshot); err != nil {
		return err
	}
	title := templates.Plural(resource.Kind, resource.Resource)
	if ns, name, _ := strings.Cut(values.Get("open"), "/"); ns != "" && name != "" {
		title = titleOf(title, strings.TrimPrefix(ns, "_"), name)
		page.OpenObject = templates.Link{
			Text: strings.TrimPrefix(values.Get("open"), "_/"),
			Href: objectPath(page.Ref, strings.TrimPrefix(ns, "_"), name),
		}
	}
	page.Layout = s.layout(r, title, resource.Ref())
	page.Exports = exportsOf(&page, values)
	page.KeptParams = keptParamsOf(values)
	linkList(&page, values)
	return render(w, r, status, templates.ListPage(page))
}

// fillList copies a snapshot into the page.
func fillList(page *templates.List, snapshot *watch.Snapshot) error {
	page.State = stateOf(snapshot.Status)
	if snapshot.Synced {
		page.Total = &snapshot.Total
	}
	for _, column := range snapshot.Columns {
		page.Columns = append(page.Columns, templates.Column{
			Name: column.Name, Priority: int(column.Priority), Relative: column.Relative,
		})
	}
	page.From = min(page.From, max(snapshot.Total, 1)-1)
	now := time.Now()
	for _, o := range snapshot.Objects {
		row := templates.Row{
			Namespace: o.Namespace(), Name: o.Name(),
			Href: objectPath(page.Ref, o.Namespace(), o.Name()),
		}
		cells, err := cellTexts(o)
		if err != nil {
			return err
		}
		row.Cells = make([]templates.Cell, len(page.Columns))
		severities := watch.RowSeverities(snapshot.Columns, cells)
		for i := range min(len(cells), len(page.Columns)) {
			row.Cells[i].Severity = string(severities[i])
			row.Cells[i].Text = snapshot.Columns[i].ElapsedText(cells[i], now)
			if snapshot.Columns[i].Relative {
				row.Cells[i].Wire = cells[i]
			}
		}
		page.Rows = append(page.Rows, row)
	}
	return nil
}

// keptParamsOf returns the query parameters that the form of a page keeps in addition to its own fields. It leaves out the
// parameter from, so that a changed query shows its rows from the first on.
func keptParamsOf(values url.Values) []templates.Parameter {
	var kept []templates.Parameter
	for _, name := range []string{"sort", "cols", "open", "tab", "container", "previous"} {
		if name == "cols" && slices.Equal(values[name], []string{"wide"}) {
			continue // The form has a checkbox for it.
		}
		for _, value := range nonEmpty(values, name)[name] {
			kept = append(kept, templates.Parameter{Name: name, Value: value})
		}
	}
	return kept
}

// nonEmpty returns the non-empty values of the named parameters.
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

// stateOf converts a status for the templates.
func stateOf(s watch.Status) templates.State {
	return templates.State{
		State: string(s.State), Reason: s.Reason, Count: s.Count, Total: s.Total,
		Since: s.Since.UTC().Format(time.RFC3339), Namespaces: s.Namespaces,
	}
}

// linkList sets the links that sort a list without script, and that lead to its other pages. They keep all other
// parameters.
func linkList(page *templates.List, values url.Values) {
	link := func(name, value string) string {
		query := nonEmpty(values, "ns", "labels", "q", "sort", "cols", "open", "tab", "container", "previous")
		if query.Set(name, value); value == "" {
			query.Del(name)
		}
		if len(query) == 0 {
			return page.Href
		}
		return page.Href + "?" + query.Encode()
	}
	// turned returns the link for the next sort order: ascending by the column, then descending, then unsorted.
	nextSort := func(column string) string {
		switch page.Query.Sort {
		case column:
			return link("sort", "-"+column)
		case "-" + column:
			return link("sort", "")
		}
		return link("sort", column)
	}
	page.SortNamespace = nextSort("namespace")
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

// formatOffset formats a number for a URL. It returns an empty string for 0, because a parameter with the value 0 is left
// out.
func formatOffset(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// objectPage renders the page of one object.
func (s *Server) objectPage(w http.ResponseWriter, r *http.Request) error {
	access := s.access(r)
	resource, err := access.Resource(r.Context(), refOf(r))
	if err != nil {
		return err
	}
	list := "/r/" + resource.Ref()
	page := templates.Object{
		Ref: resource.Ref(), Kind: resource.Kind, Resource: resource.Resource, Namespace: namespaceOf(r),
		Name: param(r, "name"),
		At:   time.Now().UTC().Format(time.RFC3339), Crumbs: []templates.Crumb{{Text: resource.Resource, Href: list}},
	}
	code := http.StatusOK
	text, status, err := access.LastKnown(r.Context(), page.Ref, page.Namespace, page.Name)
	if err != nil {
		// An object that is missing or forbidden now may become visible later. The page is sent anyway, and its script
		// shows the object as soon as it can.
		p := problemFor(identityOf(r).Viewer, err)
		if !wantsPage(r) || p.Status != http.StatusNotFound && p.Status != http.StatusForbidden {
			return err
		}
		code = p.Status
		page.Problem = &templates.Problem{Status: p.Status, Title: p.Title, Detail: p.Detail}
	} else {
		if page.YAML, err = s.yamlForPage(r, text); err != nil {
			return err
		}
		page.State = stateOf(status)
		page.Compare = "/compare?" +
			url.Values{"a": {page.Ref + "/" + cmp.Or(page.Namespace, "_") + "/" + page.Name}}.Encode()
	}
	page.Layout = s.layout(r, titleOf(templates.Plural(page.Kind, page.Resource), page.Namespace, page.Name), page.Ref)
	if page.Namespace != "" {
		page.Crumbs = append(page.Crumbs, templates.Crumb{
			Text: page.Namespace, Href: list + "?ns=" + url.QueryEscape(page.Namespace),
		})
	}
	page.Crumbs = append(page.Crumbs, templates.Crumb{Text: page.Name})
	return render(w, r, code, templates.ObjectPage(page))
}

// problemTitle returns the title of a page that shows an object. The function problemTitle in static/src/view.ts must return the
// same.
func titleOf(kinds, namespace, name string) string {
	return strings.TrimPrefix(namespace+"/"+name, "/") + " - " + kinds
}

// layout returns everything around the content of a page.
func (s *Server) layout(r *http.Request, title, selected string) templates.Layout {
	layout := templates.Layout{
		Title: title, Version: s.version, Cluster: s.clusterOf(r).Name, ID: s.clusterOf(r).id, Preferences: preferencesOf(r),
		Assets: templates.Assets{
			Script: s.assets.URL("app.js"), Style: s.assets.URL("app.css"), Icon: s.assets.URL("favicon.svg"),
			Chunks: s.assets.Chunks(),
		},
	}
	if guest := guestOf(r); guest != nil {
		layout.Guest, layout.Cluster = s.guestLayout(guest), ""
	} else {
		layout.Banner, layout.Open = s.auth.Banner(), s.isOpen()
		if user := identityOf(r).Viewer.User; user != nil {
			layout.User = user.Name
		}
		if s.contexts != nil {
			layout.Contexts = contextsPath
		}
		if s.auth.HasLogin() {
			layout.Logout = s.base.At(logoutPath)
		}
	}
	resources, groupErrors, err := s.access(r).Resources(r.Context(), 0)
	if err != nil {
		return layout // The content of the page reports the error.
	}
	var kinds []templates.Kind
	for i := range resources {
		k := &resources[i]
		if !k.Preferred && k.Ref() != selected || !k.Can("list") {
			continue
		}
		d := s.resourceDocument(k)
		kinds = append(kinds, templates.Kind{
			Ref: d.Ref, Href: "/r/" + d.Ref, Group: d.Group, Kind: d.Kind, Resource: d.Resource,
			Namespaced: d.Namespaced, ShortNames: d.ShortNames,
			Categories: d.Categories, Count: d.Count, State: string(d.State), Reason: d.Reason,
			Namespaces: len(d.Namespaces), Selected: d.Ref == selected,
		})
	}
	problems := make(map[string]string, len(groupErrors))
	for _, groupError := range groupErrors {
		problems[cmp.Or(groupError.Group, "core")] = groupError.Reason
	}
	layout.Groups = s.sections.Groups(kinds, problems)
	return layout
}

// objectPath returns the path of an object's page. namespace is empty for a cluster-scoped object.
func objectPath(ref, namespace, name string) string {
	return "/o/" + ref + "/" + url.PathEscape(cmp.Or(namespace, "_")) + "/" + url.PathEscape(name)
}

// isOpen reports whether the server does not identify its users. Every client that reaches it then sees everything that
// it shows.
func (s *Server) isOpen() bool {
	mode := s.auth.Mode()
	return mode == auth.None || mode == auth.SharedIdentity
}

// preferencesOf parses the cookie "look", for example "dark-compact". It ignores unknown words.
func preferencesOf(r *http.Request) templates.Preferences {
	var preferences templates.Preferences
	cookie, err := r.Cookie("look")
	if err != nil {
		return preferences
	}
	for word := range strings.SplitSeq(cookie.Value, "-") {
		switch word {
		case "light", "dark":
			preferences.Theme = word
		case "compact", "roomy":
			preferences.Density = word
		}
	}
	return preferences
}

// exportsOf returns links that export the complete result of a page's query, one for each format. If the columns of the
// table are known, the links leave out columns that the table does not have. static/src/exports.ts keeps the links up
// to date.
func exportsOf(page *templates.List, values url.Values) []templates.Export {
	exists := func(name string) bool {
		return len(page.Columns) == 0 || strings.EqualFold(name, "namespace") ||
			slices.ContainsFunc(page.Columns, func(c templates.Column) bool { return strings.EqualFold(c.Name, name) })
	}
	cols := values["cols"]
	if len(cols) != 1 || cols[0] != "wide" {
		cols = slices.DeleteFunc(slices.Clone(cols), func(name string) bool { return !exists(name) })
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

// namespaces returns the namespaces to choose from, and the state of their list. It returns none if they cannot be
// listed, or are not listed yet.
func (s *Server) namespaces(r *http.Request) ([]string, templates.State) {
	snapshot, err := s.access(r).Snapshot(r.Context(), watch.Query{Resource: "core/v1/namespaces"}, pageWait)
	if err != nil {
		return nil, templates.State{}
	}
	names := make([]string, len(snapshot.Objects))
	for i, o := range snapshot.Objects {
		names[i] = o.Name()
	}
	return names, stateOf(snapshot.Status)
}

func render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	if err := responseOf(r).build(r.Context()); err != nil {
		return err
	}
	// The page is buffered, so that a rendering error does not send half of a page.
	body := pageBuffer{response: responseOf(r)}
	ctx := r.Context()
	if isKiosk(r) {
		ctx = templates.WithKiosk(ctx)
	}
	if err := page.Render(ctx, &body); err != nil {
		return errors.Join(errors.New("render the page"), err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err := w.Write(body.text)
	return err
}
