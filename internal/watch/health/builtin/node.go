package builtin

import (
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// StartupTaint returns the key of a taint for which IsStartupTaint returns true, or "".
func StartupTaint(o object.Object) string {
	for _, taint := range o.Children("spec", "taints") {
		if key := taint.Text("key"); IsStartupTaint(key) {
			return key
		}
	}
	return ""
}

// IsStartupTaint reports whether a taint with a key keeps pods from a node until a controller or an agent has
// initialized the node.
func IsStartupTaint(key string) bool {
	return slices.ContainsFunc([]string{"/uninitialized", "/agent-not-ready", "/unregistered"}, func(suffix string) bool {
		return strings.HasSuffix(key, suffix)
	})
}

// NodeProblems explains the conditions of a node that state a problem, except Ready.
func NodeProblems(o object.Object) (problems []string) {
	for _, c := range o.Conditions() {
		isPartUnready := c.Is("False") && c.Kind != "Ready" && strings.HasSuffix(c.Kind, "Ready")
		if c.Is("True") && wording.IsNodeProblem(c.Kind) || isPartUnready {
			problems = append(problems, c.Kind+": "+c.ShortExplanation())
		}
	}
	return problems
}
