package templates

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Digits formats a count with thousands separators, such as 10,020.
func Digits(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func optionalCount(n *int) string {
	if n == nil {
		return ""
	}
	return Digits(*n)
}

// Plural returns the plural of a kind for headings, such as "Pods" or "NetworkPolicies". If the resource name is not
// a regular plural of the kind, it returns the resource name instead.
func Plural(kind, resource string) string {
	for _, ending := range []struct{ cut, put string }{{"", "s"}, {"", "es"}, {"y", "ies"}, {"", ""}} {
		if stem, found := strings.CutSuffix(kind, ending.cut); found && strings.EqualFold(stem+ending.put, resource) {
			return stem + ending.put
		}
	}
	return resource
}

// maskedNote returns a note that the page does not compare masked values, if both compared objects contain some.
// Otherwise, it returns an empty text. static/src/model/masked.ts returns the same text.
func maskedNote(c Compare) string {
	mask := regexp.MustCompile(`(?m)[:-] "?\(masked(, changed|, change \d+)?\)"?$`)
	switch {
	case !mask.MatchString(c.A.YAML) || !mask.MatchString(c.B.YAML):
		return ""
	case c.A.Ref == "core/v1/secrets" && c.B.Ref == c.A.Ref:
		return "Values of Secrets are masked. They are not compared, except for whether a change was observed."
	}
	return "Some values are masked. They are not compared, except for whether a change was observed."
}

func sideName(s Side) string { return strings.TrimPrefix(s.Namespace+"/"+s.Name, "/") }

// suggestionsEnding returns the end of a sentence that asks the user to choose an object: a full stop or, if there
// are suggestions, words that introduce them.
func suggestionsEnding(others []Link) string {
	if len(others) == 0 {
		return "."
	}
	return ", or choose one:"
}

func otherPlaceholder(first Side) string {
	if first.Ref == "" {
		return "core/v1/pods/namespace/name"
	}
	return "Select an object to compare: name, or group/version/resource/namespace/name"
}

// showsPicker reports whether the page shows the resource picker (the list of resources). The page hides it from a
// guest (a viewer of a share link) if the link shares only one resource or one object.
func showsPicker(f Layout) bool {
	kinds := 0
	for _, g := range f.Groups {
		kinds += len(g.Kinds)
	}
	return f.Guest == nil || !f.Guest.SingleObject && kinds > 1
}

// expiryText returns the end time of a share link in UTC. The script replaces this text by the viewer's local time,
// because the server does not know the viewer's time zone.
func expiryText(until string) string {
	at, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return until
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

func versionText(f Layout) string {
	if f.Version == "" {
		return ""
	}
	return ". Glasshouse " + f.Version
}

// tokenCommand returns a kubectl command that creates a token for the login. Users must replace ACCOUNT and
// NAMESPACE.
func tokenCommand(audience string) string {
	command := "kubectl create token ACCOUNT --namespace NAMESPACE --duration 8h"
	if audience != "" {
		command += " --audience " + audience
	}
	return command
}

// readText returns the result of stateText. However, if the state is unknown and the page shows a problem, it returns
// an empty text, because the problem contains the reason. The parameter at is the time when the data was read, as
// text.
func readText(s State, at string, p *Problem) string {
	if p != nil && s.State == "" {
		return ""
	}
	return stateText(s, at)
}

// stateText describes the state of the data on a page without a running script. Such a page does not update, so the
// text for live data contains the parameter at, which is the time when the data was read.
func stateText(s State, at string) string {
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

// sentence returns a statement with a full stop. If there is a reason, it is added after a colon.
func sentence(statement, reason string) string {
	if reason != "" {
		statement += ": " + reason
	}
	return strings.TrimSuffix(statement, ".") + "."
}

// pickerTitle returns the tooltip of a resource in the resource picker (the list of resources): its name and the
// number of watched namespaces. If its state is not live or syncing, the tooltip also contains the state and the
// reason.
func pickerTitle(k Kind) string {
	title := Plural(k.Kind, k.Resource) + " (" + k.Ref + ")"
	if k.Namespaces > 0 {
		title += ", in " + Digits(k.Namespaces) + " of the namespaces"
	}
	state := k.State
	switch state {
	case "", "live", "syncing":
		return title
	case "absent":
		state = "not available"
	}
	return strings.TrimSuffix(title+": "+state+". "+k.Reason, ". ")
}

func contextText(c Context) string {
	details := "cluster " + c.Cluster + ", user " + c.User
	if c.Namespace != "" {
		details += ", namespace " + c.Namespace
	}
	return details
}
