package templates

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Digits puts commas into a count: 10,020.
func Digits(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// number is a count, or nothing where it is unknown.
func number(n *int) string {
	if n == nil {
		return ""
	}
	return Digits(*n)
}

// wide reports whether all columns are on the page.
func wide(q Query) bool { return len(q.Columns) == 1 && q.Columns[0] == "wide" }

// shown reports whether a column is on the page: the one of the name always is.
func shown(c Column, q Query) bool {
	if len(q.Columns) == 0 || wide(q) {
		return wide(q) || c.Priority <= 0
	}
	return strings.EqualFold(c.Name, "name") || chosen(c.Name, q)
}

func chosen(column string, q Query) bool {
	return slices.ContainsFunc(q.Columns, func(name string) bool { return strings.EqualFold(name, column) })
}

// Plural is a kind as a heading: "Pods", "NetworkPolicies". Where the resource is
// no plural of the kind it is the resource.
func Plural(kind, resource string) string {
	for _, ending := range []struct{ cut, put string }{{"", "s"}, {"", "es"}, {"y", "ies"}, {"", ""}} {
		if stem, found := strings.CutSuffix(kind, ending.cut); found && strings.EqualFold(stem+ending.put, resource) {
			return stem + ending.put
		}
	}
	return resource
}

// untold says what objects that are compared do not tell, where values of both are
// masked. static/src/masked.ts says the same.
func untold(c Compare) string {
	mask := regexp.MustCompile(`(?m)[:-] "?\(masked(, changed|, change \d+)?\)"?$`)
	switch {
	case !mask.MatchString(c.A.YAML) || !mask.MatchString(c.B.YAML):
		return ""
	case c.A.Ref == "core/v1/secrets" && c.B.Ref == c.A.Ref:
		return "Values of Secrets are masked: they are not compared, only whether each was seen to change."
	}
	return "Some values are masked: they are not compared, only whether each was seen to change."
}

// sideName is the name of an object that is compared.
func sideName(s Side) string { return strings.TrimPrefix(s.Namespace+"/"+s.Name, "/") }

// orOne leads to the others that may be chosen.
func orOne(others []Step) string {
	if len(others) == 0 {
		return "."
	}
	return ", or choose one:"
}

// otherWords says what may be typed for the second object.
func otherWords(first Side) string {
	if first.Ref == "" {
		return "core/v1/pods/namespace/name"
	}
	return "Name of another of the " + first.Resource + ", or group/version/resource/namespace/name"
}

// chooses reports whether there are kinds to choose from: a guest with one has
// its list alone.
func chooses(f Frame) bool {
	kinds := 0
	for _, g := range f.Groups {
		kinds += len(g.Kinds)
	}
	return f.Guest == nil || !f.Guest.One && kinds > 1
}

// untilWords is when something ends, as it stands until there is script, which
// knows the clock of who reads it.
func untilWords(until string) string {
	at, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return until
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// versionWords is the program's version, for the end of a sentence.
func versionWords(f Frame) string {
	if f.Version == "" {
		return ""
	}
	return ". Glasshouse " + f.Version
}

// tokenCommand makes a token that is taken, of an account that is to be named.
func tokenCommand(audience string) string {
	command := "kubectl create token ACCOUNT --namespace NAMESPACE --duration 8h"
	if audience != "" {
		command += " --audience " + audience
	}
	return command
}

// linkColumn is the index of the column that names the object and carries the
// link to it: the one called Name, else the first one shown that holds no time.
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

// showNamespace reports whether rows tell their namespace: not when there is
// only one that they can be in, or other columns were chosen.
func showNamespace(namespaced bool, q Query) bool {
	return namespaced && len(q.Namespaces) != 1 && (len(q.Columns) == 0 || wide(q) || chosen("namespace", q))
}

// sortState is the aria-sort of a column.
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

// readWords are those of stateWords, and none where a problem says why nothing is read.
func readWords(s State, at string, p *Problem) string {
	if p != nil && s.State == "" {
		return ""
	}
	return stateWords(s, at)
}

// stateWords says the state of a page that has no script running: such a page
// is never live.
func stateWords(s State, at string) string {
	switch s.State {
	case "syncing":
		if s.Count != nil && s.Total != nil {
			return "Syncing, " + Digits(*s.Count) + " of " + Digits(*s.Total)
		}
		if s.Count != nil {
			return "Syncing, " + Digits(*s.Count) + " so far"
		}
		return "Syncing"
	case "live":
		if at == "" {
			return "Read once"
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
		return "Not served"
	case "failed":
		return "Failed"
	}
	return "Not read yet"
}

// coverage says which namespaces are covered where not all that were asked for
// are, and nothing where they are. static/src/status.ts says the same.
func coverage(s State) string {
	if len(s.Namespaces) == 0 {
		return ""
	}
	why := "you may not list the others."
	if s.State == "live" && s.Reason != "" {
		why = s.Reason
	}
	return "Only " + strings.Join(s.Namespaces, ", ") + ": " + why
}

// strange says which columns the address names, to sort by or to show, that are
// not there, and which are; nothing where all are, or none are known yet.
// static/src/columnset.ts says the same.
func strange(l List) string {
	var there []string
	if l.Namespaced {
		there = append(there, "namespace")
	}
	for _, c := range l.Columns {
		there = append(there, strings.ToLower(c.Name))
	}
	unknown := func(names []string, what string) string {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" || slices.Contains(there, strings.ToLower(name)) })
		if len(names) == 0 {
			return ""
		}
		return "“" + strings.ToLower(strings.Join(names, "” or “")) + "” to " + what
	}
	shown := l.Query.Columns
	if wide(l.Query) {
		shown = nil
	}
	parts := slices.DeleteFunc([]string{unknown([]string{strings.TrimPrefix(l.Query.Sort, "-")}, "sort by"), unknown(shown, "show")}, func(part string) bool { return part == "" })
	if len(l.Columns) == 0 || len(parts) == 0 {
		return ""
	}
	return "There is no column " + strings.Join(parts, ", and none ") + "; there are " + strings.Join(there, ", ") + "."
}

// missing says which of several namespaces the cluster does not have, or did not
// have when that was last known; nothing where it never was. static/src/spaces.ts
// says the same.
func missing(l List) string {
	names := slices.DeleteFunc(slices.Clone(l.Query.Namespaces), func(ns string) bool { return slices.Contains(l.Namespaces, ns) })
	if len(l.Namespaces) == 0 || len(l.Query.Namespaces) < 2 || len(names) == 0 {
		return ""
	}
	which := strings.Join(names, " or ")
	switch {
	case l.Known.State == "live":
		return "There is no namespace " + which + "."
	case l.Known.State != "stale" || l.Known.Since == "":
		return "There was no namespace " + which + " when it was last known."
	}
	return "There was no namespace " + which + " at " + l.Known.Since + "."
}

// covered is what is said above the rows where they are not all that was asked
// for; emptyWords says what of it is to be said where there are none.
func covered(l List) string {
	if len(l.Rows) == 0 || l.Problem != nil {
		return ""
	}
	said := slices.DeleteFunc([]string{strange(l), missing(l), coverage(l.State)}, func(words string) bool { return words == "" })
	return strings.Join(said, " ")
}

// shownOf counts the rows on the page. It says nothing where none are known, or
// may be: that is not zero.
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

// pageWords says which of the rows are on the page: "101 to 200 of 10,020".
func pageWords(l List) string {
	words := Digits(l.From+1) + " to " + Digits(l.From+len(l.Rows))
	if l.Total != nil {
		words += " of " + Digits(*l.Total)
	}
	return words
}

// emptyWords is what stands in place of rows, with the next step to take.
func emptyWords(l List) Problem {
	only := coverage(l.State)
	narrowed := len(l.Query.Namespaces) > 0 || l.Query.Q != "" || l.Query.Labels != ""
	switch {
	case l.Problem != nil:
		return *l.Problem
	case l.State.State == "forbidden":
		next := []Step{{Text: "Ask for the right to list and watch them."}}
		if l.Namespaced {
			next[0].Text = "Choose a namespace that you may read, or ask for the right to list and watch them."
		}
		if len(l.Query.Namespaces) > 0 { // Without a choice those that may be read are shown.
			next = []Step{{Text: "Ask for the right to list and watch them, or"}, {Text: "Show " + l.Resource + " wherever you may list them", Href: l.Href}}
		}
		if l.Guest != nil { // who has no right to ask for
			next = next[1:]
		}
		return Problem{Title: "You may not list " + l.Resource, Detail: l.State.Reason, Next: next}
	case l.State.State == "absent":
		return Problem{Title: "This cluster does not serve " + l.Resource, Detail: l.State.Reason, Next: []Step{{Text: "Choose another kind. This one appears by itself once its API is installed."}}}
	case l.State.State == "failed":
		return Problem{Title: "Reading " + l.Resource + " failed", Detail: l.State.Reason, Next: []Step{{Text: "It is tried again by itself."}}}
	case l.State.State == "syncing" || l.State.State == "":
		return Problem{Title: "Reading " + l.Resource, Detail: stateWords(l.State, ""), Next: []Step{{Text: "Look again", Href: l.Href}}}
	case l.State.State == "stale":
		none, next := "There were none", "Look again"
		if narrowed {
			none, next = "None fitted the namespaces and filters chosen", "Show all "+l.Resource
		}
		known := sentence(stateWords(l.State, ""), l.State.Reason) + " " + none + " when they were last read, which may have changed since. " + only
		return Problem{Title: "No " + l.Resource + " known", Detail: strings.TrimSpace(known), Next: []Step{{Text: next, Href: l.Href}}}
	case narrowed:
		return Problem{Title: "No " + l.Resource + " match", Detail: strings.TrimSpace("Nothing fits the namespaces and filters chosen. " + only), Next: []Step{{Text: "Show all " + l.Resource, Href: l.Href}}}
	}
	return Problem{Title: "No " + l.Resource, Detail: cmp.Or(only, "The cluster holds none now.") + " The first one appears here by itself."}
}

// sentence is words and why they are so, with a full stop.
func sentence(words, why string) string {
	if why != "" {
		words += ": " + why
	}
	return strings.TrimSuffix(words, ".") + "."
}

// pickerWords is what the picker says of a kind that is not simply live in all
// namespaces.
func pickerWords(k Kind) string {
	words := Plural(k.Kind, k.Resource) + " (" + k.Ref + ")"
	if k.Namespaces > 0 {
		words += ", in " + Digits(k.Namespaces) + " of the namespaces"
	}
	switch k.State {
	case "", "live", "syncing":
		return words
	}
	return strings.TrimSuffix(words+": "+k.State+". "+k.Reason, ". ")
}

// contextWords are what a context is of.
func contextWords(c Context) string {
	words := "cluster " + c.Cluster + ", user " + c.User
	if c.Namespace != "" {
		words += ", namespace " + c.Namespace
	}
	return words
}
