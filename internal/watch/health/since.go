package health

import (
	"cmp"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/container"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/onset"
)

// Since returns when the present problem of an object began. text is the JSON text of the object. If the time is
// unknown, Since returns the zero Time. The object must have a problem, because Since does not evaluate its health.
func Since(text []byte) time.Time {
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
	if since = cmp.Or(since, onset.OfCondition(o)); !since.IsZero() {
		return since
	}
	if onset.IsCreation(o) {
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
			ended = latest(ended, end.Time("finishedAt"))
		}
	}
	if o.Text("status", "phase") == "Failed" {
		return ended
	}
	// If several containers failed, the condition Ready changed when the first one failed.
	return cmp.Or(onset.OfCondition(o), ended)
}

// cronJobSince returns when the last run was due if that run failed. Otherwise, it returns when the missed run was due.
func cronJobSince(o object.Object) time.Time {
	r := cronJob(o, Current)
	if r.Status == Failed {
		return o.Time("status", "lastScheduleTime")
	}
	return r.startedAt
}
