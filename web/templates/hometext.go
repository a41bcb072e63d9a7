package templates

import "strings"

// problemCountText returns the text next to the heading of the home page.
func problemCountText(h Home) string {
	switch {
	case !h.Known:
		return ""
	case h.Total == 1:
		return "1 problem"
	case len(h.Findings) > 0 && len(h.Findings) < h.Total:
		return Digits(len(h.Findings)) + " of " + Digits(h.Total) + " problems"
	}
	return Digits(h.Total) + " problems"
}

func severityWord(severity string) string {
	if severity == "" {
		return ""
	}
	return strings.ToUpper(severity[:1]) + severity[1:]
}

func namespacesValue(namespaces []string) string { return strings.Join(namespaces, ",") }
