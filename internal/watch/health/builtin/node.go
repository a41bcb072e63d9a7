package builtin

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
)

// StartupTaint returns the key of a taint that keeps pods from a node until a controller or an agent has initialized
// the node, or "".
func StartupTaint(o object.Object) string {
	for _, taint := range o.Children("spec", "taints") {
		key := taint.Text("key")
		for _, suffix := range []string{"/uninitialized", "/agent-not-ready", "/unregistered"} {
			if strings.HasSuffix(key, suffix) {
				return key
			}
		}
	}
	return ""
}

// NodeProblems explains the conditions of a node that state a problem, except Ready.
func NodeProblems(o object.Object) (problems []string) {
	for _, c := range o.Conditions() {
		isPartUnready := c.Is("False") && c.Kind != "Ready" && strings.HasSuffix(c.Kind, "Ready")
		if c.Is("True") && symptom.IsNodeProblem(c.Kind) || isPartUnready {
			problems = append(problems, c.Kind+": "+c.ShortExplanation())
		}
	}
	return problems
}
