// Package onset finds when the current problem of an object began, from the times in its status.
package onset

import (
	"cmp"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/container"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/schedule"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// Of returns when the current problem of an object began. text is the JSON text of the object. If the time is
// unknown, Of returns the zero Time. The object must have a problem, because Of does not evaluate its health.
func Of(text []byte) time.Time {
	o, err := object.Read(text)
	if err != nil {
		return time.Time{}
	}
	if deleted := o.Time("metadata", "deletionTimestamp"); !deleted.IsZero() {
		return deleted
	}
	since := time.Time{}
	switch o.Group() + "/" + o.Text("kind") {
	case "/Pod":
		since = podSince(o)
	case "batch/CronJob":
		since = cronJobSince(o)
	case "/PersistentVolume":
		since = o.Time("status", "lastPhaseTransitionTime")
	case "/Event", "events.k8s.io/Event":
		return cmp.Or(o.Time("firstTimestamp"), o.Time("eventTime"), o.Time("deprecatedFirstTimestamp"), o.Created())
	}
	if since = cmp.Or(since, ofCondition(o)); !since.IsZero() {
		return since
	}
	if isCreation(o) {
		return cmp.Or(o.Time("status", "startTime"), o.Created())
	}
	return time.Time{}
}

// podSince returns when the containers of a failed pod ended, or when the scheduler rejected the pod.
func podSince(o object.Object) time.Time {
	if c := o.Condition("PodScheduled"); c.Is("False") {
		return c.ChangedAt
	}
	ended := time.Time{}
	for _, c := range container.Of(o) {
		if end, isEnded := c.State("terminated"); isEnded && c.HasFailed() {
			if at := end.Time("finishedAt"); at.After(ended) {
				ended = at
			}
		}
	}
	if o.Text("status", "phase") == "Failed" {
		return ended
	}
	// Prefer the time of a condition such as Ready, which changed when the first container failed. The time in the
	// variable ended is when the last container failed.
	return cmp.Or(ofCondition(o), ended)
}

// cronJobSince returns the time at which the failed or missed run of a CronJob was due.
func cronJobSince(o object.Object) time.Time {
	if schedule.LastRunFailed(o) {
		return o.Time("status", "lastScheduleTime")
	}
	due, _, _ := schedule.NextRun(o)
	return due
}

// ofCondition returns the earliest time at which a condition became undesired, or else the time of ScalingLimited.
func ofCondition(o object.Object) time.Time {
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
	return c.Is("True") && wording.IsNodeProblem(c.Kind)
}

// isCreation reports whether the problem of an object has existed since the object was started or created.
func isCreation(o object.Object) bool {
	phase := cmp.Or(o.Text("status", "phase"), "Pending")
	switch o.Group() + "/" + o.Text("kind") {
	case "/Pod", "/PersistentVolumeClaim", "/PersistentVolume":
		return phase == "Pending"
	case "/Service", "batch/Job", "storage.k8s.io/VolumeAttachment":
		return true
	}
	return len(o.Child("status")) == 0
}
