package symptom

import (
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
)

// PodFailure explains the condition ReplicaFailure in the words of the admission plugin that rejected the pods.
func PodFailure(c object.Condition) string {
	action := "Cannot create pods: "
	if c.Reason == "FailedDelete" {
		action = "Cannot delete pods: "
	}
	if c.Message == "" {
		return action + c.Explanation()
	}
	return action + message.Admission(c.Message)
}

// IsInOrder reports whether c is the condition Ready with the status True, and no condition of o is a bad state.
func IsInOrder(o object.Object, c object.Condition) bool {
	isBad := func(c object.Condition) bool { return c.Is("True") == IsBadIfTrue(c.Kind) }
	return c.Kind == "Ready" && c.Is("True") && !slices.ContainsFunc(o.Conditions(), isBad)
}
