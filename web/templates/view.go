// Package templates contains the HTML pages. Each page renders one view model with untrusted texts: templ escapes
// every field, and templ.URL sanitizes every URL of a link or form.
//
// Only row.templ contains the markup of a table row. static/src/list/row.ts builds the same elements, and tests
// compare both with testdata/rows.html.
package templates

// Layout contains everything that a page shows around its content.
type Layout struct {
	Title   string
	Assets  Assets
	Version string // version of the program; empty: not shown
	Cluster string // name of the context or cluster; empty: not shown
	ID      string
	Home    string // route of the home page; empty for a viewer who sees only one list
	AtHome  bool   // whether this is the home page
	// Contexts is the route of the page that switches the cluster. It is empty if the viewer cannot switch.
	Contexts    string
	Groups      []Group
	Preferences Preferences
	User        string
	Logout      string // URL of the logout form; empty if users do not log in
	Banner      string
	Open        bool // whether the server has no login
	Guest       *Guest
}

// Preferences contains a viewer's display preferences, from a cookie.
type Preferences struct {
	Theme   string // "light" or "dark"; empty: the theme of the system
	Density string // "compact" or "roomy"; empty: medium
	Picker  string // "icons" if the resource picker shows only icons; empty: full width
}

// Export is a link that downloads the complete result of the list's query.
type Export struct {
	View   string // "rows": the cells of the table; "objects": the complete objects
	Format string // "csv", "json", "ndjson" or "yaml"
	Text   string
	Href   string
}

// Assets contains the URLs of the embedded files, each with a hash of the content.
type Assets struct {
	Script string
	Style  string
	// PageStyle is a second style sheet for only this page; empty if there is none.
	PageStyle string
	// KioskStyle is the style sheet that is used only in kiosk mode.
	KioskStyle string
	Icon       string
	KindIcons  string // An SVG file with an icon for each kind in its ID, such as "Pod".
	Chunks     []string
}

// Group is one section of the resource picker.
type Group struct {
	Name    string // such as "Workloads"; the API group for custom resources
	Kinds   []Kind
	Problem string
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
	Count      *int   // nil if the resource is not watched
	State      string // a value of State.State; empty if the resource is not watched
	Reason     string
	Namespaces int // number of watched namespaces; 0: all
	Selected   bool
	Rare       bool // shown only under "More"
	// IsAmbiguous reports that the page must show the API group, because another group contains the same kind.
	IsAmbiguous bool
}

// State describes how current the data of a resource is.
type State struct {
	State  string // "syncing", "live", "stale", "forbidden", "absent" or "failed"; empty before the first read
	Since  string // when the field State last changed, RFC 3339
	Reason string
	Count  *int // objects received so far, while syncing
	Total  *int // estimated number of objects, while syncing
	// If the data covers only some of the requested namespaces, Namespaces lists them. Otherwise, it is empty.
	Namespaces []string
}

// Query contains the query parameters of a list's URL.
type Query struct {
	Namespaces []string
	Q          string
	Labels     string
	Sort       string   // column name in lower case; a leading "-" reverses the order
	Columns    []string // names in lower case; empty: default columns; only "wide": all columns
}

// Column is one column of the Table that the API server returned. List.Columns has the columns in the Table's order.
type Column struct {
	Name     string
	Type     string // data type of the cells in the Table, such as "integer"
	Priority int
	Relative bool // the cells contain times, which the page shows as elapsed time
	IsExtra  bool // Glasshouse computes the cells
	Sort     string
}

// Cell is one cell of a row.
type Cell struct {
	Text string // such as "4m", "3 (5m ago)" or "Running"
	Wire string // Text with timestamps (RFC 3339) in place of ages, for the script; empty in columns without ages
}

// Row is one object in a table. len(Cells) equals len(List.Columns).
type Row struct {
	Namespace string
	Name      string
	Href      string
	Severity  string // "failed", "degraded", "progressing" or empty
	Why       string // sentence of the verdict, such as "Container app: CrashLoopBackOff"; can be empty
	Cells     []Cell
}

// List is the page that lists the objects of one resource. It works without JavaScript.
type List struct {
	Layout
	Ref             string
	Kind            string
	Resource        string
	Plural          string // plural of Kind; with the API group if another group has the same kind
	Href            string // route of this page, such as "/r/core/v1/pods"
	Namespaced      bool
	Columns         []Column
	ShowsWhy        bool // whether the table has the column Why, after the name, with the sentences of verdicts
	SortNamespace   string
	SortSeverity    string
	Rows            []Row
	From            int // number of rows on earlier pages
	Previous        string
	Next            string
	Total           *int     // number of all matching rows; nil: unknown
	Limit           int      // number of rows; the script loads only parts of a longer list
	At              string   // time of the read, RFC 3339
	Namespaces      []string // namespaces that the filter form suggests
	NamespacesState State    // how current the suggestions in Namespaces are
	State           State
	Query           Query
	Exports         []Export
	KeptParams      []Parameter
	DefaultColumns  string
	OpenObject      Link
	Problem         *Problem
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
	Plural    string // plural of Kind, as in List.Plural
	Namespace string
	Name      string
	Crumbs    []Crumb
	Compare   string // route of the page that compares this object; empty: no link
	YAML      string // the object as YAML; empty if it cannot be read
	Problem   *Problem
	State     State
	At        string
}

// Compare is the page that compares two objects.
type Compare struct {
	Layout
	A, B   Side
	Others []Link // suggestions for the second object
	Hide   []string
}

// Side is one of the two compared objects. If Ref is empty, only Text and Problem can be set.
type Side struct {
	Text      string // the object as in the URL, such as "core/v1/pods/big/web-1"
	Ref       string
	Kind      string
	Resource  string
	Namespace string
	Name      string
	Href      string
	YAML      string
	State     State
	Problem   *Problem
}

// Status is the status page: the watched resources, how current they are, and their memory.
type Status struct {
	Layout
	At     string // time of the read, RFC 3339
	Memory string
	Scopes []Scope
}

// Scope is the row of one watch on the status page. Cells contains the cells to the right of the column State.
type Scope struct {
	Href     string
	Resource string
	Group    string
	Scope    string // what is watched: "all", a namespace, or a field selector
	State    string
	Status   Cell
	Reason   string
	Cells    []Cell
}

// Problem is an RFC 9457 problem document, for display.
type Problem struct {
	Status int
	Title  string
	Detail string
	Next   []Link
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
	Error    string
}

// Context is one context of the kubeconfig.
type Context struct {
	Name      string
	Cluster   string
	User      string
	Namespace string
}

// Home is the page with the problems of the cluster, or of the selected namespaces.
type Home struct {
	Layout
	Name       string // "Home", or the namespace
	Href       string // route of this page, such as "/ns/shop"
	AllHref    string // route of the page of all namespaces; empty if it is this page
	Limited    bool   // whether the start page shows only one namespace
	Namespaces []string
	Q          string
	Failed     int
	At         string // time of the read, RFC 3339
	Known      bool   // whether the problems of the cluster are known; false: Total and Findings are empty
	Total      int    // number of all findings; the page can show fewer
	Findings   []Finding
	Unexamined []string // sentences about what was not examined for problems
	Empty      Empty    // shown if there are no findings
}

// Empty is the text that the page shows if there are no findings.
type Empty struct {
	Title  string
	Detail string
}

// Finding is a group of objects with the same cause, or one of these objects.
type Finding struct {
	Key      string
	Severity string // "failed", "degraded" or "progressing"
	Object   ObjectLink
	Sentence string
	Cause    *ObjectLink
	Missing  bool // whether the object that is the cause does not exist
	Owner    *ObjectLink
	LogHref  string
	Change   *SpecChange
	Count    int
	Members  []Finding    // objects with this cause; they have no members of their own
	Path     []ObjectLink // The objects on the path to the cause, with the cause last. Empty if only the cause is known.
	Since    Cell
}

// ObjectLink is a link to an object. If the field Href is empty, it is only text.
type ObjectLink struct {
	Kind      string
	Namespace string
	Name      string
	Href      string
}

// SpecChange is the last change of a specification.
type SpecChange struct {
	Text string // such as "image changed by kubectl-set"
	What string // the changed fields, such as "spec.template.spec.containers[app].image"
	Href string
	Age  Cell // such as "13m ago"
}

// Failure is the error page for all failed requests except those with a special error page.
type Failure struct {
	Layout
	Problem Problem
	Ref     string
}
