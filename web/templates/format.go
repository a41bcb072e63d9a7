package templates

import (
	"hash/fnv"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
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

// Plural returns the plural of a kind, such as "Pods". If it is irregular, Plural returns the resource name.
// Resource.Plural in internal/watch/resource and plural in static/src/net/kinds.ts return the same text.
func Plural(kind, resource string) string {
	for _, ending := range []struct{ cut, put string }{{"", "s"}, {"", "es"}, {"y", "ies"}, {"", ""}} {
		if stem, found := strings.CutSuffix(kind, ending.cut); found && strings.EqualFold(stem+ending.put, resource) {
			return stem + ending.put
		}
	}
	return resource
}

// maskedNote returns a note if both compared objects contain masked values. static/src/model/masked.ts returns the
// same text.
func maskedNote(c Compare) string {
	mask := regexp.MustCompile(`(?m)[:-] "?\(masked(, changed|, change \d+)?\)"?$`)
	switch {
	case !mask.MatchString(c.A.YAML) || !mask.MatchString(c.B.YAML):
		return ""
	case c.A.Ref == "core/v1/secrets" && c.B.Ref == c.A.Ref:
		return "Values of Secrets are masked. They are not compared. Only marks of changes, such as " +
			"“(masked, changed)”, can differ."
	}
	return "Some values are masked. They are not compared. Only marks of changes, such as “(masked, changed)”, can differ."
}

func sideName(s Side) string { return strings.TrimPrefix(s.Namespace+"/"+s.Name, "/") }

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

func showsPicker(f Layout) bool {
	kinds := 0
	for _, g := range f.Groups {
		kinds += len(g.Kinds)
	}
	return f.Guest == nil || !f.Guest.SingleObject && kinds > 1
}

// expiryText returns the time in UTC at which a share link ends. With JavaScript, the page shows local time instead.
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

func tokenCommand(audience string) string {
	command := "kubectl create token ACCOUNT --namespace NAMESPACE --duration 8h"
	if audience != "" {
		command += " --audience " + audience
	}
	return command
}

// readText returns the result of stateText. If the state is unknown, but p already explains why, it returns "".
func readText(s State, readAt string, p *Problem) string {
	if p != nil && s.State == "" {
		return ""
	}
	return stateText(s, readAt)
}

// stateText describes how current the data is on a page without JavaScript, which does not update by itself.
func stateText(s State, readAt string) string {
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
		if readAt == "" {
			return "Loaded"
		}
		return "As of " + readAt
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

func sentence(statement, reason string) string {
	if reason != "" {
		statement += ": " + reason
	}
	return strings.TrimSuffix(statement, ".") + "."
}

func pickerTitle(k Kind) string {
	title := Plural(k.Kind, k.Resource) + " (" + k.Ref + ")"
	if k.Namespaces > 0 {
		title += ", limited to " + Digits(k.Namespaces) + " namespace"
		if k.Namespaces > 1 {
			title += "s"
		}
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

// clusterColor returns the color that marks a cluster, so that users notice which one they see. It returns "prod" for a
// production cluster, and otherwise one of six colors, selected by a hash of the cluster's name.
func clusterColor(name string) string {
	if isProduction(name) {
		return "prod"
	}
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, name)
	return strconv.Itoa(int(hash.Sum32() % 6))
}

// isProduction reports whether a word in the name of a cluster means production, such as "eu-prod-2". Names such as
// "nonprod", "pre-prod" and "products" are not names of production clusters.
func isProduction(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for i, word := range words {
		isNegated := i > 0 && slices.Contains([]string{"non", "not", "no", "pre", "sub"}, words[i-1])
		word = strings.TrimRight(word, "0123456789")
		if !isNegated && slices.Contains([]string{"prod", "production", "prd"}, word) {
			return true
		}
	}
	return false
}

// ClusterIcon returns the file name of the page's icon, in the color of the cluster. Guests do not see the name of the
// cluster, so for an empty name, the icon has the color of no cluster.
func ClusterIcon(name string) string {
	if name == "" {
		return "favicon.svg"
	}
	return "favicon-" + clusterColor(name) + ".svg"
}
