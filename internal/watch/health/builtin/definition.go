package builtin

import "github.com/glasshouse-project/glasshouse/internal/watch/health/object"

// DefinitionProblems explains the conditions of a CustomResourceDefinition that its users should know.
func DefinitionProblems(o object.Object) (problems []string) {
	for _, c := range o.Conditions() {
		if c.Kind == "NonStructuralSchema" && c.Is("True") ||
			c.Kind == "KubernetesAPIApprovalPolicyConformant" && c.Is("False") ||
			c.Kind == "Terminating" && c.Is("True") {
			problems = append(problems, c.Kind+": "+c.Explanation())
		}
	}
	return problems
}
