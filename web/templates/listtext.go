package templates

import (
	"fmt"
	"slices"
	"strings"
)

func isWide(q Query) bool { return len(q.Columns) == 1 && q.Columns[0] == "wide" }

// isShown reports whether the page shows a column. Without chosen columns, it shows those with priority 0, as kubectl
// does without -o wide.
func isShown(c Column, q Query) bool {
	if len(q.Columns) == 0 || isWide(q) {
		return isWide(q) || c.Priority <= 0
	}
	return strings.EqualFold(c.Name, "name") || isChosen(c.Name, q)
}

func isChosen(column string, q Query) bool {
	return slices.ContainsFunc(q.Columns, func(name string) bool { return strings.EqualFold(name, column) })
}

// showsState reports whether a column shows the state of objects. Its cells have the color of the row's verdict.
// static/src/model/severity.ts has the same columns.
func showsState(column string) bool {
	switch strings.ToLower(column) {
	case "status", "phase", "state", "health", "ready", "sync status", "health status":
		return true
	}
	return false
}

// isNumber reports whether a column contains numbers, sizes or ages, which the page aligns to the right.
// static/src/list/row.ts has the same rule.
func isNumber(c Column) bool {
	for _, text := range []string{c.Type, strings.ToLower(c.Name)} {
		switch text {
		case "integer", "number", "ready", "up-to-date", "available", "replicas", "minpods", "maxpods", "restarts",
			"completions", "capacity", "duration":
			return true
		}
	}
	return c.Relative && !c.IsExtra
}

// linkColumn returns the index of the column whose cells link to the objects. It is the first of these that exists: the
// column "Name", the first shown column without times, the first shown column. Without shown columns, it is -1.
func linkColumn(columns []Column, q Query) int {
	first := -1
	for i, c := range columns {
		if !isShown(c, q) {
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

// showNamespace reports whether the list shows the namespace column. The column is hidden for cluster-scoped resources,
// for a query of exactly one namespace, and if the query names columns without the namespace.
func showNamespace(namespaced bool, q Query) bool {
	return namespaced && len(q.Namespaces) != 1 && (len(q.Columns) == 0 || isWide(q) || isChosen("namespace", q))
}

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

// coverageNote returns a note if the data covers only some of the requested namespaces. Otherwise, it returns "".
// static/src/model/status.ts returns the same text.
func coverageNote(s State) string {
	if len(s.Namespaces) == 0 {
		return ""
	}
	reason := " (no access to others)."
	if s.State == "live" && s.Reason != "" {
		reason = ": " + s.Reason
	}
	return "Showing " + namespaceWords(s.Namespaces, ", ") + " only" + reason
}

// unknownColumnsNote returns a note about unknown columns in the URL, or "". static/src/model/column-set.ts returns
// the same text.
func unknownColumnsNote(l List) string {
	var existing []string
	if l.Namespaced {
		existing = append(existing, "namespace")
	}
	for _, c := range l.Columns {
		existing = append(existing, strings.ToLower(c.Name))
	}
	unknown := func(names []string, action string) string {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return name == "" || slices.Contains(existing, strings.ToLower(name))
		})
		if len(names) == 0 {
			return ""
		}
		return "“" + strings.ToLower(strings.Join(names, "” or “")) + "” to " + action
	}
	columns := l.Query.Columns
	if isWide(l.Query) {
		columns = nil
	}
	sort := strings.TrimPrefix(l.Query.Sort, "-")
	if strings.EqualFold(sort, "severity") {
		sort = ""
	}
	parts := slices.DeleteFunc(
		[]string{unknown([]string{sort}, "sort by"), unknown(columns, "show")},
		func(part string) bool { return part == "" },
	)
	if len(l.Columns) == 0 || len(parts) == 0 {
		return ""
	}
	return "No column " + strings.Join(parts, ", and no column ") + ". Available: " + strings.Join(existing, ", ") + "."
}

// missingNamespacesNote returns a note if several namespaces are requested and some of them do not exist. Otherwise, it
// returns "". static/src/model/namespaces.ts returns the same text.
func missingNamespacesNote(l List) string {
	names := slices.DeleteFunc(slices.Clone(l.Query.Namespaces), func(ns string) bool {
		return slices.Contains(l.Namespaces, ns)
	})
	if len(l.Namespaces) == 0 || len(l.Query.Namespaces) < 2 || len(names) == 0 {
		return ""
	}
	list := namespaceWords(names, " and ")
	list = strings.ToUpper(list[:1]) + list[1:]
	switch {
	case l.NamespacesState.State == "live" && len(names) == 1:
		return list + " does not exist."
	case l.NamespacesState.State == "live":
		return list + " do not exist."
	case l.NamespacesState.State != "stale" || l.NamespacesState.Since == "":
		return list + " did not exist at the last update."
	}
	return list + " did not exist at " + l.NamespacesState.Since + "."
}

func namespaceWords(names []string, separator string) string {
	words := "namespaces "
	if len(names) == 1 {
		words = "namespace "
	}
	return words + strings.Join(names, separator)
}

// listNote returns all notes above the rows. Without rows, it returns "", because the page then shows emptyNote.
func listNote(l List) string {
	if len(l.Rows) == 0 || l.Problem != nil {
		return ""
	}
	notes := slices.DeleteFunc(
		[]string{unknownColumnsNote(l), missingNamespacesNote(l), coverageNote(l.State)},
		func(note string) bool {
			return note == ""
		},
	)
	return strings.Join(notes, " ")
}

// rowCountText returns the number of rows for the heading, or "" if it is unknown.
func rowCountText(l List) string {
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
		return rangeText(l)
	}
	return fmt.Sprintf("first %s of %s", Digits(len(l.Rows)), Digits(*l.Total))
}

func rangeText(l List) string {
	label := Digits(l.From+1) + " to " + Digits(l.From+len(l.Rows))
	if l.Total != nil {
		label += " of " + Digits(*l.Total)
	}
	return label
}

// canListCommand returns the kubectl command that checks whether the API server permits the list.
// static/src/ui/status-view.ts returns the same command.
func canListCommand(l List) string {
	group, _, _ := strings.Cut(l.Ref, "/")
	command := "kubectl auth can-i list " + l.Resource
	if group != "core" {
		command += "." + group
	}
	if len(l.Query.Namespaces) > 0 {
		command += " -n " + l.Query.Namespaces[0]
	}
	return command
}

// emptyNote returns the note of a list without rows. For a list that is live, filtered or absent, noteFor in
// static/src/model/status.ts returns the same texts.
func emptyNote(l List) Problem {
	note, resource := coverageNote(l.State), Plural(l.Kind, l.Resource)
	filtered := len(l.Query.Namespaces) > 0 || l.Query.Q != "" || l.Query.Labels != ""
	switch {
	case l.Problem != nil:
		return *l.Problem
	case l.State.State == "forbidden":
		next := []Link{{Text: "Ask your cluster admin for list and watch access."}}
		if l.Namespaced {
			next[0].Text = "Select a namespace that you can read, " +
				"or ask your cluster admin for list and watch access."
		}
		if len(l.Query.Namespaces) > 0 { // Otherwise, the list already shows all permitted namespaces.
			next = []Link{
				{Text: "Ask your cluster admin for list and watch access, or"},
				{Text: "Show " + resource + " in all namespaces where you can list them", Href: l.Href},
			}
		}
		if l.Guest != nil {
			next = next[1:]
		} else {
			next = append(next, Link{Text: "Check with: " + canListCommand(l)})
		}
		return Problem{Title: "Forbidden: you cannot list " + resource, Detail: l.State.Reason, Next: next}
	case l.State.State == "absent":
		return Problem{
			Title:  resource + " are not available in this cluster",
			Detail: l.State.Reason,
			Next:   []Link{{Text: "They appear here automatically once their API is installed."}},
		}
	case l.State.State == "failed":
		return Problem{
			Title:  "Failed to load " + resource,
			Detail: l.State.Reason,
			Next:   []Link{{Text: "Retrying automatically."}},
		}
	case l.State.State == "syncing" || l.State.State == "":
		return Problem{
			Title:  "Loading " + resource + "…",
			Detail: stateText(l.State, ""),
			Next:   []Link{{Text: "Refresh", Href: l.Href}},
		}
	case l.State.State == "stale":
		none, next := "There were no "+resource, "Refresh"
		if filtered {
			none, next = none+" with the selected namespaces and filters", "Clear filters"
		}
		detail := sentence(stateText(l.State, ""), l.State.Reason) + " " + none +
			" at the last update. This may have changed. " + note
		return Problem{
			Title:  "No " + resource + " at the last update",
			Detail: strings.TrimSpace(detail),
			Next:   []Link{{Text: next, Href: l.Href}},
		}
	case filtered:
		return Problem{
			Title:  "No " + resource + " match the selected namespaces and filters",
			Detail: strings.TrimSpace(note + " New ones appear here automatically."),
			Next:   []Link{{Text: "Clear filters", Href: l.Href}},
		}
	}
	return Problem{
		Title:  "No " + resource,
		Detail: strings.TrimSpace(note + " New ones appear here automatically."),
	}
}
