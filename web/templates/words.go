package templates

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Digits formats a count with thousands separators: 10,020.
func Digits(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// number formats a count. It returns an empty text for an unknown count.
func number(n *int) string {
	if n == nil {
		return ""
	}
	return Digits(*n)
}

// wide reports whether the page shows all columns.
func wide(q Query) bool { return len(q.Columns) == 1 && q.Columns[0] == "wide" }

// shown reports whether the page shows a column. If the query names columns, the column Name is shown in addition to
// them.
func shown(c Column, q Query) bool {
	if len(q.Columns) == 0 || wide(q) {
		return wide(q) || c.Priority <= 0
	}
	return strings.EqualFold(c.Name, "name") || chosen(c.Name, q)
}

func chosen(column string, q Query) bool {
	return slices.ContainsFunc(q.Columns, func(name string) bool { return strings.EqualFold(name, column) })
}

// Plural returns the plural of a kind for headings: "Pods", "NetworkPolicies". If the resource's name is not a regular
// plural of the kind, Plural returns the resource's name.
func Plural(kind, resource string) string {
	for _, ending := range []struct{ cut, put string }{{"", "s"}, {"", "es"}, {"y", "ies"}, {"", ""}} {
		if stem, found := strings.CutSuffix(kind, ending.cut); found && strings.EqualFold(stem+ending.put, resource) {
			return stem + ending.put
		}
	}
	return resource
}

// untold returns a note about masked values in a comparison. It returns an empty text unless both objects contain
// masked values. static/src/masked.ts returns the same text.
func untold(c Compare) string {
	mask := regexp.MustCompile(`(?m)[:-] "?\(masked(, changed|, change \d+)?\)"?$`)
	switch {
	case !mask.MatchString(c.A.YAML) || !mask.MatchString(c.B.YAML):
		return ""
	case c.A.Ref == "core/v1/secrets" && c.B.Ref == c.A.Ref:
		return "Values of Secrets are masked. They are not compared, except for whether a change was observed."
	}
	return "Some values are masked. They are not compared, except for whether a change was observed."
}

// sideName returns the name of a compared object, with its namespace if it has one.
func sideName(s Side) string { return strings.TrimPrefix(s.Namespace+"/"+s.Name, "/") }

// orOne ends the sentence that asks for an object. It introduces the list of suggestions, if there are any.
func orOne(others []Step) string {
	if len(others) == 0 {
		return "."
	}
	return ", or choose one:"
}

// otherWords returns the placeholder of the input for the second object.
func otherWords(first Side) string {
	if first.Ref == "" {
		return "core/v1/pods/namespace/name"
	}
	return "Select an object to compare: name, or group/version/resource/namespace/name"
}

// chooses reports whether the page shows the resource picker. A guest does not get one if the link shares only one
// resource or one object.
func chooses(f Frame) bool {
	kinds := 0
	for _, g := range f.Groups {
		kinds += len(g.Kinds)
	}
	return f.Guest == nil || !f.Guest.One && kinds > 1
}

// untilWords formats the time at which a share ends, in UTC. The script replaces it by the viewer's local time, which
// the server does not know.
func untilWords(until string) string {
	at, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return until
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// versionWords returns the program's version as a sentence to append to a title.
func versionWords(f Frame) string {
	if f.Version == "" {
		return ""
	}
	return ". Glasshouse " + f.Version
}

// tokenCommand returns a kubectl command that creates an accepted token. The user replaces the placeholders for the
// service account and its namespace.
func tokenCommand(audience string) string {
	command := "kubectl create token ACCOUNT --namespace NAMESPACE --duration 8h"
	if audience != "" {
		command += " --audience " + audience
	}
	return command
}

// linkColumn returns the index of the column that links to the object: the column Name, otherwise the first shown
// column without times, otherwise the first shown column. It returns -1 if no column is shown.
func linkColumn(columns []Column, q Query) int {
	first := -1
	for i, c := range columns {
		if !shown(c, q) {
			continue
		}
		if strings.EqualFold(c.Name, "name") {
			return i
		}
		if first < 0 || columns[first].Relative && !c.Relative {
			first = i
		}
	}
	return first
}

// showNamespace reports whether the page shows the namespace column. It does not for cluster-scoped resources, for a
// query of exactly one namespace, or if the query names only other columns.
func showNamespace(namespaced bool, q Query) bool {
	return namespaced && len(q.Namespaces) != 1 && (len(q.Columns) == 0 || wide(q) || chosen("namespace", q))
}

// sortState returns the aria-sort attribute of a column.
func sortState(column string, q Query) string {
	name, descending := strings.CutPrefix(q.Sort, "-")
	switch {
	case name == "" || !strings.EqualFold(name, column):
		return "none"
	case descending:
		return "descending"
	}
	return "ascending"
}

// readWords returns the text of stateWords. It returns an empty text if there is no state and the page shows a problem,
// because the problem contains the reason.
func readWords(s State, at string, p *Problem) string {
	if p != nil && s.State == "" {
		return ""
	}
	return stateWords(s, at)
}

// stateWords formats the state of a page without a running script. Such a page does not update, so a live state is
// shown as the time of the read.
func stateWords(s State, at string) string {
	switch s.State {
	case "syncing":
		if s.Count != nil && s.Total != nil {
			return "Loading, " + Digits(*s.Count) + " of " + Digits(*s.Total)
		}
		if s.Count != nil {
			return "Loading, " + Digits(*s.Count) + " so far"
		}
		return "Loading"
	case "live":
		if at == "" {
			return "Loaded"
		}
		return "As of " + at
	case "stale":
		if s.Since == "" {
			return "Stale"
		}
		return "Stale since " + s.Since
	case "forbidden":
		return "Forbidden"
	case "absent":
		return "Not available"
	case "failed":
		return "Failed"
	}
	return "Not loaded yet"
}

// coverage returns a note that lists the covered namespaces, with the reason. It returns an empty text if all requested
// namespaces are covered. static/src/status.ts returns the same text.
func coverage(s State) string {
	if len(s.Namespaces) == 0 {
		return ""
	}
	why := " (no access to others)."
	if s.State == "live" && s.Reason != "" {
		why = ": " + s.Reason
	}
	return "Showing " + namespaceWords(s.Namespaces, ", ") + " only" + why
}

// strange returns a note about columns that the URL names for sorting or display, but that do not exist. The note lists
// the existing columns. It is empty if all named columns exist, or if no columns are known yet. static/src/columnset.ts
// returns the same text.
func strange(l List) string {
	var there []string
	if l.Namespaced {
		there = append(there, "namespace")
	}
	for _, c := range l.Columns {
		there = append(there, strings.ToLower(c.Name))
	}
	unknown := func(names []string, what string) string {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return name == "" || slices.Contains(there, strings.ToLower(name))
		})
		if len(names) == 0 {
			return ""
		}
		return "“" + strings.ToLower(strings.Join(names, "” or “")) + "” to " + what
	}
	shown := l.Query.Columns
	if wide(l.Query) {
		shown = nil
	}
	parts := slices.DeleteFunc(
		[]string{unknown([]string{strings.TrimPrefix(l.Query.Sort, "-")}, "sort by"), unknown(shown, "show")},
		func(part string) bool { return part == "" },
	)
	if len(l.Columns) == 0 || len(parts) == 0 {
		return ""
	}
	return "No column " + strings.Join(parts, ", and no column ") + ". Available: " + strings.Join(there, ", ") + "."
}

// missing returns a note about requested namespaces that the cluster does not have, or did not have when the namespaces
// were last read. The note is empty for fewer than two requested namespaces, or if the cluster's namespaces are
// unknown. static/src/spaces.ts returns the same text.
func missing(l List) string {
	names := slices.DeleteFunc(slices.Clone(l.Query.Namespaces), func(ns string) bool {
		return slices.Contains(l.Namespaces, ns)
	})
	if len(l.Namespaces) == 0 || len(l.Query.Namespaces) < 2 || len(names) == 0 {
		return ""
	}
	which := namespaceWords(names, " and ")
	which = strings.ToUpper(which[:1]) + which[1:]
	switch {
	case l.Known.State == "live" && len(names) == 1:
		return which + " does not exist."
	case l.Known.State == "live":
		return which + " do not exist."
	case l.Known.State != "stale" || l.Known.Since == "":
		return which + " did not exist at the last update."
	}
	return which + " did not exist at " + l.Known.Since + "."
}

// namespaceWords lists namespaces: "namespace shop", "namespaces data, shop".
func namespaceWords(names []string, separator string) string {
	words := "namespaces "
	if len(names) == 1 {
		words = "namespace "
	}
	return words + strings.Join(names, separator)
}

// covered returns the notes above the rows: what the URL requests and the rows do not contain. It returns an empty text
// without rows, because emptyWords then includes the note about namespaces, and if the page shows a problem.
func covered(l List) string {
	if len(l.Rows) == 0 || l.Problem != nil {
		return ""
	}
	said := slices.DeleteFunc([]string{strange(l), missing(l), coverage(l.State)}, func(words string) bool {
		return words == ""
	})
	return strings.Join(said, " ")
}

// shownOf returns the count of rows, for the heading. It returns an empty text if the rows are unknown or forbidden,
// because that does not mean zero.
func shownOf(l List) string {
	switch l.State.State {
	case "forbidden", "absent", "failed":
		return ""
	}
	switch {
	case l.Total == nil && len(l.Rows) == 0:
		return ""
	case l.Total == nil:
		return "first " + Digits(len(l.Rows))
	case *l.Total == len(l.Rows):
		return Digits(*l.Total)
	case l.From > 0:
		return pageWords(l)
	}
	return fmt.Sprintf("first %s of %s", Digits(len(l.Rows)), Digits(*l.Total))
}

// pageWords returns the range of rows on the page: "101 to 200 of 10,020".
func pageWords(l List) string {
	words := Digits(l.From+1) + " to " + Digits(l.From+len(l.Rows))
	if l.Total != nil {
		words += " of " + Digits(*l.Total)
	}
	return words
}

// emptyWords returns the note that the page shows in place of rows, with suggestions.
func emptyWords(l List) Problem {
	only, resource := coverage(l.State), Plural(l.Kind, l.Resource)
	narrowed := len(l.Query.Namespaces) > 0 || l.Query.Q != "" || l.Query.Labels != ""
	switch {
	case l.Problem != nil:
		return *l.Problem
	case l.State.State == "forbidden":
		next := []Step{{Text: "Ask your cluster admin for list and watch access."}}
		if l.Namespaced {
			next[0].Text = "Choose a namespace that you can read, " +
				"or ask your cluster admin for list and watch access."
		}
		if len(l.Query.Namespaces) > 0 { // Without chosen namespaces, the list shows the permitted ones.
			next = []Step{
				{Text: "Ask your cluster admin for list and watch access, or"},
				{Text: "Show " + resource + " in all namespaces that you can list", Href: l.Href},
			}
		}
		if l.Guest != nil { // A guest cannot request permissions.
			next = next[1:]
		}
		return Problem{Title: "Forbidden: you can't list " + resource, Detail: l.State.Reason, Next: next}
	case l.State.State == "absent":
		return Problem{
			Title:  resource + " are not available in this cluster",
			Detail: l.State.Reason,
			Next:   []Step{{Text: "Choose another resource. This one appears automatically once its API is installed."}},
		}
	case l.State.State == "failed":
		return Problem{
			Title:  "Failed to load " + resource,
			Detail: l.State.Reason,
			Next:   []Step{{Text: "Retrying automatically."}},
		}
	case l.State.State == "syncing" || l.State.State == "":
		return Problem{
			Title:  "Loading " + resource + "…",
			Detail: stateWords(l.State, ""),
			Next:   []Step{{Text: "Refresh", Href: l.Href}},
		}
	case l.State.State == "stale":
		none, next := "There were no "+resource, "Refresh"
		if narrowed {
			none, next = "No "+resource+" matched these namespaces and filters", "Clear filters"
		}
		known := sentence(stateWords(l.State, ""), l.State.Reason) + " " + none +
			" at the last update. This may have changed. " + only
		return Problem{
			Title:  "No " + resource + " at the last update",
			Detail: strings.TrimSpace(known),
			Next:   []Step{{Text: next, Href: l.Href}},
		}
	case narrowed:
		return Problem{
			Title:  "No " + resource + " match these namespaces and filters",
			Detail: only,
			Next:   []Step{{Text: "Clear filters", Href: l.Href}},
		}
	}
	return Problem{
		Title:  "No " + resource,
		Detail: strings.TrimSpace(only + " New ones appear here automatically."),
	}
}

// sentence joins words and their reason, and ends them with a full stop.
func sentence(words, why string) string {
	if why != "" {
		words += ": " + why
	}
	return strings.TrimSuffix(words, ".") + "."
}

// pickerWords returns the tooltip of a resource in the picker: its name, the number of watched namespaces, and the
// state with its reason if it is neither live nor syncing.
func pickerWords(k Kind) string {
	words := Plural(k.Kind, k.Resource) + " (" + k.Ref + ")"
	if k.Namespaces > 0 {
		words += ", in " + Digits(k.Namespaces) + " of the namespaces"
	}
	state := k.State
	switch state {
	case "", "live", "syncing":
		return words
	case "absent":
		state = "not available"
	}
	return strings.TrimSuffix(words+": "+state+". "+k.Reason, ". ")
}

// contextWords returns the cluster, the user and the namespace of a context.
func contextWords(c Context) string {
	words := "cluster " + c.Cluster + ", user " + c.User
	if c.Namespace != "" {
		words += ", namespace " + c.Namespace
	}
	return words
}
