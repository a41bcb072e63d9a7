// Package templates holds the pages. Each page takes one typed view model,
// which this file defines; the models are plain values without behaviour, are
// filled by internal/web, and hold text that is ready to be shown. Nothing in
// them is trusted: templ escapes every field, and only the fields named Href,
// Script, Style and Icon become addresses.
//
// A table row's markup exists once, in row.templ. static/src/row.ts builds the
// same elements in the browser; testdata/rows.html holds both to it.
package templates

// Frame is what every page has around its content.
type Frame struct {
	Title   string // of the document, without the product's name
	Assets  Assets
	Version string // of this program, as "v0.1.0"; empty is not shown
	Cluster string // the context's or cluster's name; empty is not shown
	ID      string // tells the cluster from others
	// Contexts is where another one is chosen; empty where there is nothing to choose.
	Contexts string
	Groups   []Group
	Look     Look
	User     string // who looks; empty where nobody is asked
	Logout   string // where who looks logs out; empty where nobody logs in
	Banner   string // what everybody is to know who looks; empty for nothing
	Open     bool   // nobody is asked who they are: whoever comes sees all that there is
	Guest    *Guest // whom something is shared with; nil for who looks by a right of their own
}

// Look is how a person likes pages to look; the script keeps it in a cookie.
type Look struct {
	Theme   string // "light" or "dark"; empty is the system's
	Density string // "compact" or "roomy"; empty is between them
}

// Export is a link to what the page shows, in a format.
type Export struct {
	View   string // "rows" or "objects"
	Format string // "csv"
	Text   string // "Rows as CSV"
	Href   string
}

// Assets are the addresses of the embedded files, with their content hash.
type Assets struct {
	Script string   // "/static/app.js?v=.."
	Style  string   // "/static/app.css?v=.."
	Icon   string   // "/static/favicon.svg?v=.."
	Parts  []string // Of the script.
}

// Group is one section of the resource picker. Groups makes them.
type Group struct {
	Name    string // "Workloads", or the API group for custom resources
	Kinds   []Kind // may be empty where Problem says why
	Problem string // why discovery could not read this API group; empty if it could
}

// Kind is one line of the resource picker.
type Kind struct {
	Ref        string // "core/v1/pods": how the wire and the paths name it
	Href       string // "/r/core/v1/pods"
	Group      string // "core", "apps", "example.com"
	Kind       string // "Pod"
	Resource   string // "pods"
	Namespaced bool
	ShortNames []string
	Categories []string
	Count      *int   // objects held; nil when it is not being watched, which is not zero
	State      string // as in State.State; empty when it is not being watched
	Reason     string // why it is forbidden, stale or failed
	Namespaces int    // how many are watched; 0 for all
	Selected   bool   // it is the kind that the page shows
}

// State is what is known of the freshness of a kind.
type State struct {
	State  string // "syncing", "live", "stale", "forbidden", "absent" or "failed"
	Since  string // RFC 3339; empty when unknown
	Reason string
	Count  *int // objects received so far, while syncing,
	Total  *int // of about so many; nil when unknown
	// Namespaces are those covered, where not all that were asked for are.
	Namespaces []string
}

// Query is the view that the address asks for, echoed into the form.
type Query struct {
	Namespaces []string // empty: all
	Q          string   // text filter
	Labels     string   // label selector
	Sort       string   // a column's name, lower case, "-" before it to reverse
	Columns    []string // names, lower case, of those to show; empty: the usual; "wide": all
}

// Column is one column of the cluster's own table, in the wire's order.
type Column struct {
	Name     string
	Priority int // above 0: not among the usual
	Relative bool
	Sort     string // the address of the list sorted by it, or otherwise if it is so now
}

// Cell is one cell of a row.
type Cell struct {
	Text string // as shown: "4m", "3 (5m ago)", "Running"
	Wire string // relative columns only: the wire's text, with RFC 3339 in it
	Tone string // how it stands out: "bad", "warn" or not at all
}

// Row is one object in a table. len(Cells) equals len(List.Columns).
type Row struct {
	Namespace string // empty for a cluster-scoped object
	Name      string
	Href      string // "/o/core/v1/pods/big/web-1"
	Cells     []Cell
}

// List is the page of one kind: the first rows, complete without script.
type List struct {
	Frame
	Ref        string // "core/v1/pods"
	Kind       string // "Pod"
	Resource   string // "pods"
	Href       string // "/r/core/v1/pods", the form's target
	Namespaced bool
	Columns    []Column
	// SortNamespace is as Column.Sort.
	SortNamespace string
	Rows          []Row    // some of those that the query asks for
	From          int      // how many come before these
	Previous      string   // the address of the rows before; empty without any
	Next          string   // and of those after
	Total         *int     // how many the query asks for; nil when unknown
	Limit         int      // how many rows the script may hold
	At            string   // RFC 3339: when these rows were read
	Namespaces    []string // those of the cluster, offered by the namespace box; may be empty
	Known         State    // how well those are
	State         State
	Query         Query
	Exports       []Export
	Carried       []Parameter // what else is shown, which the form keeps
	Usual         string      // the address of the list with the usual columns
	Opened        Step        // the object that the script shows beside the rows; its page
	Problem       *Problem    // shown instead of the rows, as for a bad label selector
}

// Parameter is one of an address.
type Parameter struct{ Name, Value string }

// Crumb is one step of the way to an object; the last one has no Href.
type Crumb struct {
	Text string
	Href string
}

// Object is the page of one object.
type Object struct {
	Frame
	Ref       string
	Kind      string
	Resource  string
	Namespace string // empty for a cluster-scoped object
	Name      string
	Crumbs    []Crumb
	Compare   string // the address where it is compared with another
	YAML      string // empty while it is not known; Problem then says why
	Problem   *Problem
	State     State
	At        string // RFC 3339: when it was read
}

// Compare is the page of two objects.
type Compare struct {
	Frame
	A, B   Side
	Others []Step   // what A may be compared with, where there is no B
	Hide   []string // what the script leaves out of both
}

// Side is one of the objects that are compared. Without a Ref nothing more is
// known than the Text.
type Side struct {
	Text      string // as it was asked for, "core/v1/pods/big/web-1"; may be empty
	Ref       string
	Kind      string
	Resource  string
	Namespace string // empty for a cluster-scoped object
	Name      string
	Href      string // its own page
	YAML      string
	State     State    // stale where the YAML is from before; nothing otherwise
	Problem   *Problem // why there is no YAML
}

// Status is the page of what is watched, how well, and what it costs.
type Status struct {
	Frame
	At     string // RFC 3339: when it was read
	Held   string // how much memory, of how much
	Scopes []Scope
}

// Scope is one line of the status page: a resource, or a part of it, that is
// watched. len(Cells) is that of the columns after the state.
type Scope struct {
	Href     string // of the page that shows it
	Resource string // "pods"
	Group    string // "core/v1"
	Scope    string // "all", a namespace, or a field selector
	State    string // as in State.State
	Status   Cell   // the state in words: "Live for 5m"
	Reason   string // why it is not live; empty if it is
	Cells    []Cell
}

// Problem is an RFC 9457 problem in words.
type Problem struct {
	Status int
	Title  string
	Detail string
	Next   []Step // what to do now
}

// Step is one thing to do next; Href may be empty.
type Step struct {
	Text string
	Href string
}

// Contexts is the page on which another cluster is chosen.
type Contexts struct {
	Frame
	Contexts []Context
	Present  string // The name of the one that is shown.
	Why      string // it could not be; empty where it was not tried
}

// Context is one of the kubeconfig's.
type Context struct {
	Name      string
	Cluster   string
	User      string
	Namespace string // empty for none
}

// Failure is the page of a request that has no other page.
type Failure struct {
	Frame
	Problem Problem
	Ref     string // of a kind that the cluster does not serve, and which is waited for; empty for none
}
