package health

import (
	"cmp"
	"slices"
	"time"
)

// Since returns when the present problem of an object began, given as JSON text. It returns the zero Time if that is
// unknown. The object must have a problem, because Since does not evaluate its health.
func Since(text []byte) time.Time {
	o, err := read(text)
	if err != nil {
		return time.Time{}
	}
	if deleted := o.time("metadata", "deletionTimestamp"); !deleted.IsZero() {
		return deleted
	}
	since := time.Time{}
	switch o.group() + "/" + o.text("kind") {
	case "/Pod":
		since = podSince(o)
	case "batch/CronJob":
		since = cronJobSince(o)
	case "/PersistentVolume":
		since = o.time("status", "lastPhaseTransitionTime")
	case "/Event", "events.k8s.io/Event":
		return firstTime(o.time("firstTimestamp"), o.time("eventTime"), o.time("deprecatedFirstTimestamp"), created(o))
	}
	if since = firstTime(since, conditionSince(o)); !since.IsZero() {
		return since
	}
	if isInitial(o) {
		return firstTime(o.time("status", "startTime"), created(o))
	}
	return time.Time{}
}

func created(o object) time.Time { return o.time("metadata", "creationTimestamp") }

// firstTime returns the first time that is not zero.
func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// podSince returns when the containers of a failed pod ended, or when the scheduler rejected the pod.
func podSince(o object) time.Time {
	if c := o.condition("PodScheduled"); c.is("False") {
		return c.changedAt
	}
	ended := time.Time{}
	for _, c := range containersOf(o) {
		if end, isEnded := c.state("terminated"); isEnded && c.hasFailed() {
			ended = latest(ended, end.time("finishedAt"))
		}
	}
	if o.text("status", "phase") == "Failed" {
		return ended
	}
	// The condition Ready has the time at which the first of several containers failed.
	return firstTime(conditionSince(o), ended)
}

// cronJobSince returns when the last run was due if it failed, and otherwise when a missed run was due.
func cronJobSince(o object) time.Time {
	r := cronJob(o, Current)
	if r.Status == Failed {
		return o.time("status", "lastScheduleTime")
	}
	return r.startedAt
}

// conditionSince returns the time at which the first condition that is not as desired changed.
func conditionSince(o object) time.Time {
	var first, limited time.Time
	for _, c := range o.conditions() {
		switch {
		case c.changedAt.IsZero():
		case c.kind == "ScalingLimited":
			if c.is("True") && c.reason == "TooManyReplicas" {
				limited = c.changedAt
			}
		case c.isUndesired() && (first.IsZero() || c.changedAt.Before(first)):
			first = c.changedAt
		}
	}
	return firstTime(first, limited)
}

// isUndesired reports whether a condition of a well-known type is not as desired. Other types can mean anything.
func (c condition) isUndesired() bool {
	switch c.kind {
	case "Ready", "ContainersReady", "Initialized", "PodScheduled", "Available", "Progressing", "Established",
		"NamesAccepted", "AbleToScale", "ScalingActive", "DisruptionAllowed", "Synced", "Healthy", "Accepted", "Programmed":
		return !c.is("True") && !slices.Contains([]string{"ScalingDisabled", "PodCompleted"}, c.reason)
	case "Failed", "FailureTarget", "ReplicaFailure", "Stalled", "Degraded", "MemoryPressure", "DiskPressure",
		"PIDPressure", "NetworkUnavailable", "ControllerResizeError", "NodeResizeError", "ModifyVolumeError":
		return c.is("True")
	}
	return false
}

// isInitial reports whether an object with a problem has had it since its creation or its start.
func isInitial(o object) bool {
	phase := cmp.Or(o.text("status", "phase"), "Pending")
	switch o.group() + "/" + o.text("kind") {
	case "/Pod", "/PersistentVolumeClaim", "/PersistentVolume":
		return phase == "Pending"
	case "/Service", "batch/Job", "storage.k8s.io/VolumeAttachment":
		return true
	}
	return len(o.child("status")) == 0
}
