// Package templates contains the HTML pages. Each page renders one view model. This file defines most view models.
// They are plain values, which package internal/web fills with text that is ready to be shown. All values are
// untrusted: templ escapes every field, and templ.URL sanitizes every URL of a link or form.
//
// On the server, only row.templ contains the markup of a table row. In the browser, static/src/list/row.ts builds the
// same elements. Tests compare both with testdata/rows.html.
package templates

// Layout contains everything that a page shows around its content.
type Layout struct {
	Title   string // the document title, without the product name
	Assets  Assets
	Version string // version of this program, such as "v0.1.0"; empty: not shown
	Cluster string // the name of the context or cluster; empty: not shown
	ID      string // ID of the active cluster
	// Contexts is the route of the page that switches the cluster. It is empty if the viewer cannot switch.
	Contexts    string
	Groups      []Group
	Preferences Preferences
	User        string // name of the viewer; empty if the viewer is not identified
	Logout      string // the URL of the logout form; empty if users do not log in
	Banner      string // a notice for all viewers; empty: none
	Open        bool   // there is no login, so every client sees everything that the server shows
	Guest       *Guest // the share link that the viewer uses; nil without a share link
}

// Preferences contains a viewer's display preferences. The script stores them in a cookie.
type Preferences struct {
	Theme   string // "light" or "dark"; empty: the theme of the system
	Density string // "compact" or "roomy"; empty: medium
}

// Export is a download link for the complete result of the list's query, in one format.
type Export struct {
	View   string // what the file contains: "rows" (of the table) or "objects"
	Format string // "csv", "json", "ndjson" or "yaml"
	Text   string // the label, such as "Rows as CSV"
	Href   string
}

// Assets contains the URLs of the embedded files. Each URL includes a hash of the content.
type Assets struct {
	Script string   // "/static/app.js?v=.."
	Style  string   // "/static/app.css?v=.."
	Icon   string   // "/static/favicon.svg?v=.."
	Chunks []string // URLs of the chunks that Script imports, to be preloaded
}

// Group is one section of the resource picker (the list of resources). Sections.Groups creates it.
type Group struct {
	Name    string // "Workloads", or the API group for custom resources
	Kinds   []Kind // can be empty if Problem is set
	Problem string // why discovery could not read this API group; otherwise empty
}

// Kind is one resource in the resource picker.
type Kind struct {
	Ref        string // "core/v1/pods", as in the API and in paths
	Href       string // the URL of the list, such as "/r/core/v1/pods"
	Group      string // the API group, such as "core" or "apps"
	Kind       string // the kind, such as "Pod"
	Resource   string // the resource, such as "pods"
	Namespaced bool
	ShortNames []string
	Categories []string
	Count      *int   // number of cached objects; nil (unknown) if the resource is not watched
	State      string // one of the values of State.State; empty if the resource is not watched
	Reason     string // why State is forbidden, stale or failed
	Namespaces int    // number of watched namespaces; 0: all
	Selected   bool   // whether the page shows this resource
}

// State describes how current the data of a resource is.
type State struct {
	State  string // "syncing", "live", "stale", "forbidden", "absent" or "failed"; empty before the first read
	Since  string // when State began, in RFC 3339; empty if unknown
	Reason string
	Count  *int // objects received so far, while syncing
	Total  *int // the estimated total, while syncing; nil: unknown
	// Namespaces lists the namespaces that the data covers, if the data covers only some of the requested ones.
	// Otherwise, it is empty.
	Namespaces []string
}

// Query contains the query parameters of a list's URL. The filter form shows them.
type Query struct {
	Namespaces []string // the requested namespaces; empty: all
	Q          string   // text filter
	Labels     string   // label selector
	Sort       string   // a column name in lower case; a leading "-" reverses the order
	Columns    []string // names of the columns to show, in lower case; empty: the default columns; "wide": all
}

// Column is one column of the API server's Table. List.Columns has the same order as the Table.
type Column struct {
	Name     string
	Priority int    // above 0: hidden by default
	Relative bool   // the cells contain times, shown as elapsed time
	Sort     string // the route that sorts by this column: ascending, then descending, then unsorted
}

// Cell is one cell of a row.
type Cell struct {
	Text     string // as shown: "4m", "3 (5m ago)", "Running"
	Wire     string // as Text, but with RFC 3339 times, so that the script can update the cell; only in relative columns
	Severity string // the severity: "bad", "warn" or empty
}

// Row is one object in a table. len(Cells) equals len(List.Columns).
type Row struct {
	Namespace string // empty for a cluster-scoped object
	Name      string
	Href      string // the URL of the object, such as "/o/core/v1/pods/big/web-1"
	Cells     []Cell
}

// List is the page that lists the objects of one resource. It works without script.
type List struct {
	Layout
	Ref        string // the resource, such as "core/v1/pods"
	Kind       string // the kind, such as "Pod"
	Resource   string // the resource name, such as "pods"
	Href       string // the route of the list, such as "/r/core/v1/pods"; the target of the filter form
	Namespaced bool
	Columns    []Column
	// SortNamespace is the route that sorts by the namespace column, like Column.Sort.
	SortNamespace   string
	Rows            []Row    // one page of rows from the result of the query
	From            int      // number of rows before this page of rows
	Previous        string   // the route of the previous page of rows; empty: none
	Next            string   // the route of the next page of rows; empty: none
	Total           *int     // number of rows in the result of the query; nil: unknown
	Limit           int      // maximum number of rows that the script loads
	At              string   // when Rows were read, in RFC 3339
	Namespaces      []string // all namespaces of the cluster, for the namespace box; empty: unknown
	NamespacesState State    // how current Namespaces is
	State           State
	Query           Query
	Exports         []Export
	KeptParams      []Parameter // parameters of the page's URL that the filter form keeps as hidden fields
	DefaultColumns  string      // the route of the list with the default columns
	OpenObject      Link        // the page of the object that the script shows next to the rows; without Href: none
	Problem         *Problem    // shown in place of the rows, for example for an invalid label selector
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
	Compare   string // the route of the page that compares this object with another; empty: none
	YAML      string // empty if the object cannot be read; then Problem contains the reason
	Problem   *Problem
	State     State
	At        string // when the object was read, in RFC 3339
}

// Compare is the page that compares two objects.
type Compare struct {
	Layout
	A, B   Side
	Others []Link   // suggestions for B, if B is empty
	Hide   []string // kinds of differences that the script ignores
}

// Side is one of the two compared objects. If Ref is empty, only Text and Problem can be set.
type Side struct {
	Text      string // the object in the URL, such as "core/v1/pods/big/web-1"; can be empty
	Ref       string
	Kind      string
	Resource  string
	Namespace string // empty for a cluster-scoped object
	Name      string
	Href      string // the route of the object's page
	YAML      string
	State     State    // zero if YAML is current; otherwise the state of the data
	Problem   *Problem // the reason why there is no YAML
}

// Status is the status page. It shows what is watched, how current the data is, and how much memory it uses.
type Status struct {
	Layout
	At     string // when the status was read, in RFC 3339
	Memory string // the memory in use and its limit, as text
	Scopes []Scope
}

// Scope is one row of the status page: a watched resource, or a part of a resource that is watched separately. Cells
// contains the cells of the columns after the state.
type Scope struct {
	Href     string // the route of the resource's list
	Resource string // the resource name, such as "pods"
	Group    string // the group and version, such as "core/v1"
	Scope    string // "all", a namespace, or a field selector
	State    string // one of the values of State.State
	Status   Cell   // the state as text: "Live for 5m"
	Reason   string // why the state is not live; empty for live
	Cells    []Cell
}

// Problem is an RFC 9457 problem document, for display.
type Problem struct {
	Status int
	Title  string
	Detail string
	Next   []Link // what the user can do next
}

// Link is a suggestion for the user: a link, or only text if Href is empty.
type Link struct {
	Text string
	Href string
}

// Contexts is the page on which a user switches to another context of the kubeconfig.
type Contexts struct {
	Layout
	Contexts []Context
	Active   string // name of the active context
	Error    string // why the last switch failed, or why the contexts cannot be read; otherwise empty
}

// Context is one context of the kubeconfig.
type Context struct {
	Name      string
	Cluster   string
	User      string
	Namespace string // the default namespace of the context; can be empty
}

// Failure is the page for a failed request that has no page of its own.
type Failure struct {
	Layout
	Problem Problem
	Ref     string // a resource that the cluster does not serve yet; the script waits for it; empty: none
}
