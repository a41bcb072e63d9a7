package builtin

import (
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
