// Package schedule determines when the next run of a CronJob is due, as Kubernetes' controller does.
package schedule

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
)

// Tolerances for a CronJob without a time zone. The controller then uses its own time zone, which is unknown.
const (
	unknownMinuteTolerance = time.Hour
	unknownHourTolerance   = 24 * time.Hour
)

// Next returns when the next run is due. last is the time of the last run. If last is the zero Time, there was no run,
// and Next uses created instead. tolerance is by how much the result can be too early. ok is false if the time is
// unknown.
func Next(text, zone string, last, created time.Time) (due time.Time, tolerance time.Duration, ok bool) {
	schedule := parse(text, zone)
	if schedule == nil {
		return time.Time{}, 0, false
	}
	fields, isSpec := schedule.(*cron.SpecSchedule)
	isZoneUnknown := isSpec && zone == "" && !strings.Contains(text, "TZ=")
	start := last.UTC()
	switch {
	case last.IsZero() && isZoneUnknown && isEachHour(fields):
		start, tolerance = created.UTC(), unknownMinuteTolerance
	case last.IsZero() && isZoneUnknown:
		start, tolerance = created.UTC(), unknownHourTolerance
	case last.IsZero():
		start = created.UTC()
	case isZoneUnknown && !schedule.Next(start.Add(-time.Second)).Equal(start):
		// The last run does not match the schedule in UTC: the controller is in another time zone, or the schedule has
		// changed. Neither the hour nor the minute is certain, so add both tolerances.
		tolerance = unknownMinuteTolerance + unknownHourTolerance
	}
	if start.IsZero() {
		return time.Time{}, 0, false
	}
	due = schedule.Next(start) // Zero for a date that never occurs, such as February 31.
	return due, tolerance, !due.IsZero()
}

// parse returns nil for an invalid schedule and for a time zone that is unknown to this program.
func parse(text, zone string) (schedule cron.Schedule) {
	defer func() {
		if recover() != nil { // The parser panics for some invalid texts.
			schedule = nil
		}
	}()
	if zone != "" && !strings.Contains(text, "TZ") { // As in the controller, a zone in the schedule has priority.
		text = "TZ=" + zone + " " + text
	}
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return nil
	}
	return schedule
}

// isEachHour reports whether a schedule depends only on the minute.
func isEachHour(s *cron.SpecSchedule) bool {
	const star = 1 << 63 // The parser sets this bit for "*".
	return s.Hour&s.Dom&s.Month&s.Dow&star != 0
}

// NextRun returns when the next run of a CronJob is due. For tolerance and ok, see Next.
func NextRun(o object.Object) (due time.Time, tolerance time.Duration, ok bool) {
	return Next(
		o.Text("spec", "schedule"), o.Text("spec", "timeZone"), o.Time("status", "lastScheduleTime"), o.Created(),
	)
}

// LastRunFailed reports whether the newest run of a CronJob has ended without success. The controller writes the end
// and the success of a run in one update. If only the end is written, the run has failed.
func LastRunFailed(o object.Object) bool {
	isRunning := len(o.Children("status", "active")) > 0
	// Compare the times as text, because both are in RFC 3339 format, in UTC and full seconds.
	isUnsuccessful := o.Text("status", "lastSuccessfulTime") < o.Text("status", "lastScheduleTime")
	return isUnsuccessful && !isRunning && keepsJobs(o)
}

// keepsJobs reports whether a finished job exists long enough for the controller to see whether it succeeded.
func keepsJobs(o object.Object) bool {
	const enough = 60
	return o.CountOr(enough, "spec", "jobTemplate", "spec", "ttlSecondsAfterFinished") >= enough
}
