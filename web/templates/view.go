// Package templates contains the HTML pages. Each page renders one view model. This file defines most of the view
// models. They are plain values, which package internal/web fills with texts that are ready to be shown. All values
// are untrusted: templ escapes every field, and templ.URL sanitizes every URL of a link or form.
//
// On the server, only row.templ contains the markup of a table row. In the browser, static/src/list/row.ts builds the
// same elements. Tests compare both with testdata/rows.html.
package templates

// Layout contains everything that a page shows around its content.
type Layout struct {
	Title   string // title of the document, without the product name
	Assets  Assets
	Version string // version of this program, such as "v0.1.0"; empty: not shown
	Cluster string // name of the context or cluster; empty: not shown
	ID      string
	// Contexts is the route of the page that switches the cluster. It is empty if the viewer cannot switch.
	Contexts    string
	Groups      []Group
	Preferences Preferences
	User        string // name of the viewer; empty if the viewer is not identified
	Logout      string // URL of the logout form; empty if users do not log in
	Banner      string // notice for all viewers; empty: none
	Open        bool   // whether there is no login, so that every client sees everything that the server shows
	Guest       *Guest // share link that the viewer uses; nil without a share link
}

// Preferences contains a viewer's display preferences. The script stores them in a cookie.
type Preferences struct {
	Theme   string // "light" or "dark"; empty: the theme of the system
	Density string // "compact" or "roomy"; empty: medium
}

// Export is a link that downloads the complete result of the list's query, in one format.
type Export struct {
	View   string // content of the file: "rows" (of the table) or "objects"
	Format string // "csv", "json", "ndjson" or "yaml"
	Text   string // label of the link, such as "Rows as CSV"
	Href   string
}

// Assets contains the URLs of the embedded files. Each URL includes a hash of the content.
type Assets struct {
	Script string
	Style  string
	Icon   string
	Chunks []string // URLs of the chunks (parts of the script) that Script imports; the page preloads them
}

// Group is one section of the resource picker (the list of resources). Sections.Groups creates it.
type Group struct {
	Name    string // name of the section, such as "Workloads"; the API group for custom resources
	Kinds   []Kind // can be empty if Problem is set
	Problem string // why discovery could not read this API group; otherwise empty
}

// Kind is one resource in the resource picker.
type Kind struct {
	Ref        string // identifies the resource in URLs, such as "core/v1/pods": group, version and plural
	Href       string
	Group      string
	Kind       string
	Resource   string
	Namespaced bool
	ShortNames []string
	Categories []string
	Count      *int   // number of objects in memory; nil (unknown) if the resource is not watched
	State      string // one of the values of the field State in the type State; empty if the resource is not watched
	Reason     string // reason why the state is forbidden, stale or failed
	Namespaces int    // number of watched namespaces; 0: all
	Selected   bool   // whether the page shows this resource
}

// State describes how current the data of a resource is.
type State struct {
	State  string // "syncing", "live", "stale", "forbidden", "absent" or "failed"; empty before the first read
	Since  string // time when State began, in RFC 3339; empty if unknown
	Reason string
	Count  *int // number of objects received so far, while syncing
	Total  *int // estimated total number of objects, while syncing; nil: unknown
	// Namespaces lists the namespaces that the data covers. If the data covers all requested namespaces, it is empty.
	Namespaces []string
}

// Query contains the query parameters of a list's URL. The filter form shows them.
type Query struct {
	Namespaces []string // the requested namespaces; empty: all
	Q          string   // text that the rows must contain
	Labels     string
	Sort       string   // a column name in lower case; a leading "-" reverses the order
	Columns    []string // names of the columns to show, in lower case; empty: the default columns; "wide": all
}

// Column is one column of the API server's Table. The field Columns of the type List has the same order as the Table.
type Column struct {
	Name     string
	Priority int    // priority of the column; if above 0, the column is hidden by default
	Relative bool   // whether the cells contain times, which the page shows as elapsed time
	Sort     string // route that sorts by this column: ascending, then descending, then unsorted
}

// Cell is one cell of a row.
type Cell struct {
	Text     string // text on the page, such as "4m", "3 (5m ago)" or "Running"
	Wire     string // Text with RFC 3339 times, which the script updates; only in relative columns
	Severity string // severity of the value: "bad", "warn" or empty
}

// Row is one object in a table. len(Cells) equals len(List.Columns).
type Row struct {
	Namespace string // empty for a cluster-scoped object
	Name      string
	Href      string
	Cells     []Cell
}

// List is the page that lists the objects of one resource. It works without JavaScript.
type List struct {
	Layout
	Ref        string
	Kind       string
	Resource   string
	Href       string // route of the list, such as "/r/core/v1/pods"; the filter form opens it
	Namespaced bool
	Columns    []Column
	// SortNamespace is the route of the page that is sorted by namespace, like the field Sort of the type Column.
	SortNamespace   string
	Rows            []Row    // one page of rows from the result of the query
	From            int      // number of rows in the result before this page of rows
	Previous        string   // route of the previous page of rows; empty: none
	Next            string   // route of the next page of rows; empty: none
	Total           *int     // number of all rows in the result of the query; nil: unknown
	Limit           int      // maximum number of rows that the script loads
	At              string   // time when Rows was read, in RFC 3339
	Namespaces      []string // all namespaces of the cluster, as suggestions in the filter form; empty: unknown
	NamespacesState State    // describes how current the field Namespaces is
	State           State
	Query           Query
	Exports         []Export
	KeptParams      []Parameter // query parameters of the page's URL that the filter form keeps as hidden fields
	DefaultColumns  string      // route of the list with the default columns
	OpenObject      Link        // page of the object that the script shows next to the rows; without Href: none
	Problem         *Problem    // problem that the page shows instead of the rows, such as an invalid label selector
}

// Parameter is one query parameter of a URL.
type Parameter struct{ Name, Value string }

// Crumb is one element of the breadcrumbs of an object page. The last one has no Href.
type Crumb struct {
	Text string
	Href string
}

// Object is the page of one object.
type Object struct {
	Layout
	Ref       string
	Kind      string
	Resource  string
	Namespace string // empty for a cluster-scoped object
	Name      string
	Crumbs    []Crumb
	Compare   string // route of the page that compares this object with another; empty: none
	YAML      string // YAML of the object; empty if it cannot be read; Problem then contains the reason
	Problem   *Problem
	State     State
	At        string // time when the object was read, in RFC 3339
}

// Compare is the page that compares two objects.
type Compare struct {
	Layout
	A, B   Side
	Others []Link   // suggestions for the second object, if none is chosen
	Hide   []string // kinds of differences that the script ignores
}

// Side is one of the two compared objects. If the field Ref is empty, only Text and Problem can be set.
type Side struct {
	Text      string // the object as the URL identifies it, such as "core/v1/pods/big/web-1"; can be empty
	Ref       string
	Kind      string
	Resource  string
	Namespace string // empty for a cluster-scoped object
	Name      string
	Href      string
	YAML      string
	State     State    // state of the data; zero if YAML is current
	Problem   *Problem // reason why there is no YAML
}

// Status is the status page. It shows which resources are watched, how current the data is, and how much memory it
// uses.
type Status struct {
	Layout
	At     string // time when the status was read, in RFC 3339
	Memory string // memory in use and its limit, as text
	Scopes []Scope
}

// Scope is one row of the status page: a watched resource, or a part of a resource that is watched separately. Its
// field Cells contains the cells after the state column.
type Scope struct {
	Href     string
	Resource string
	Group    string // group and version, such as "core/v1"
	Scope    string // watched part of the resource: "all", a namespace, or a field selector
	State    string // one of the values of the field State in the type State
	Status   Cell   // state as text, such as "Live for 5m"
	Reason   string // reason why the state is not live; empty for live
	Cells    []Cell
}

// Problem is an RFC 9457 problem document, for display.
type Problem struct {
	Status int
	Title  string
	Detail string
	Next   []Link // links and hints for what the user can do next
}

// Link is a suggestion for the user. If the field Href is empty, it is only text.
type Link struct {
	Text string
	Href string
}

// Contexts is the page on which a user switches to another context of the kubeconfig.
type Contexts struct {
	Layout
	Contexts []Context
	Active   string
	Error    string // why the last switch failed, or why the contexts cannot be read; otherwise empty
}

// Context is one context of the kubeconfig.
type Context struct {
	Name      string
	Cluster   string
	User      string
	Namespace string // default namespace of the context; can be empty
}

// Failure is the page for a failed request that has no page of its own.
type Failure struct {
	Layout
	Problem Problem
	Ref     string // resource that the cluster does not serve yet, for which the script waits; empty: none
}
