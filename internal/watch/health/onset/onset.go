// Package onset finds when the present problem of an object began, from the times in its status.
package onset

import (
	"cmp"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
)

// OfCondition returns the time at which the first condition that is not as desired changed.
func OfCondition(o object.Object) time.Time {
	var first, limited time.Time
	for _, c := range o.Conditions() {
		switch {
		case c.ChangedAt.IsZero():
		case c.Kind == "ScalingLimited":
			if c.Is("True") && c.Reason == "TooManyReplicas" {
				limited = c.ChangedAt
			}
		case isUndesired(c) && (first.IsZero() || c.ChangedAt.Before(first)):
			first = c.ChangedAt
		}
	}
	return cmp.Or(first, limited)
}

// isUndesired reports whether a condition is a problem: a known good type ("Ready") that is not True, or a known bad
// type ("DiskPressure") that is True.
func isUndesired(c object.Condition) bool {
	switch c.Kind {
	case "Ready", "ContainersReady", "Initialized", "PodScheduled", "Available", "Progressing", "Established",
		"NamesAccepted", "AbleToScale", "ScalingActive", "DisruptionAllowed", "Synced", "Healthy", "Accepted", "Programmed":
		return !c.Is("True") && !slices.Contains([]string{"ScalingDisabled", "PodCompleted"}, c.Reason)
	case "Failed", "FailureTarget", "ReplicaFailure", "Stalled", "Degraded", "MemoryPressure", "DiskPressure",
		"PIDPressure", "NetworkUnavailable", "ControllerResizeError", "NodeResizeError", "ModifyVolumeError":
		return c.Is("True")
	}
	return c.Is("True") && symptom.IsNodeProblem(c.Kind)
}

// IsCreation reports whether the problem of an object has existed since the creation or the start of the object.
func IsCreation(o object.Object) bool {
	phase := cmp.Or(o.Text("status", "phase"), "Pending")
	switch o.Group() + "/" + o.Text("kind") {
	case "/Pod", "/PersistentVolumeClaim", "/PersistentVolume":
		return phase == "Pending"
	case "/Service", "batch/Job", "storage.k8s.io/VolumeAttachment":
		return true
	}
	return len(o.Child("status")) == 0
}
