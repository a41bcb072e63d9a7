package health

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Tolerances for the first run of a CronJob without spec.timeZone. The schedule then applies to the time zone of the
// controller, which the object does not contain.
const (
	unknownMinuteTolerance = time.Hour
	unknownHourTolerance   = 24 * time.Hour
)

// setNextRun limits the health of a CronJob to the time when its next run counts as missed.
func (r *result) setNextRun(o object) {
	schedule, hasZone := scheduleOf(o)
	if schedule == nil {
		return
	}
	tolerance := max(settleTime, time.Duration(o.count("spec", "startingDeadlineSeconds"))*time.Second)
	last := o.time("status", "lastScheduleTime").UTC()
	fields, isSpec := schedule.(*cron.SpecSchedule)
	switch zoneMatters := isSpec && !hasZone; {
	case !last.IsZero() && zoneMatters && !schedule.Next(last.Add(-time.Second)).Equal(last):
		// The controller is in another time zone, or the schedule has changed.
		tolerance += unknownMinuteTolerance + unknownHourTolerance
	case !last.IsZero():
	case !zoneMatters:
		last = o.time("metadata", "creationTimestamp").UTC()
	default:
		last = o.time("metadata", "creationTimestamp").UTC()
		tolerance += unknownMinuteTolerance
		if !isEachHour(fields) {
			tolerance += unknownHourTolerance
		}
	}
	if last.IsZero() {
		return
	}
	due := schedule.Next(last)
	if due.IsZero() { // A date that never occurs, such as February 31.
		return
	}
	dueText := due.UTC().Format(time.RFC3339)
	r.Details = append(r.Details, "Next run due at "+dueText)
	r.startedAt, r.promised, r.overdue = due, tolerance, verdict.Degraded
	r.overdueReason = "MissedRun"
	r.overdueSummary = fmt.Sprintf("Missed run: the run due at %s has not started", dueText)
}

// scheduleOf returns the schedule of a CronJob, or nil if it or its time zone is unknown to this program. hasZone
// reports whether the CronJob names a time zone.
func scheduleOf(o object) (schedule cron.Schedule, hasZone bool) {
	defer func() {
		if recover() != nil { // The parser panics for some invalid texts.
			schedule = nil
		}
	}()
	text, zone := o.text("spec", "schedule"), o.text("spec", "timeZone")
	hasZone = zone != "" || strings.Contains(text, "TZ=")
	if zone != "" && !strings.Contains(text, "TZ") { // The controller prefers a zone in the schedule, too.
		text = "TZ=" + zone + " " + text
	}
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return nil, hasZone
	}
	return schedule, hasZone
}

// isEachHour reports whether a schedule depends only on the minute.
func isEachHour(s *cron.SpecSchedule) bool {
	const star = 1 << 63 // The parser sets this bit for "*".
	return s.Hour&s.Dom&s.Month&s.Dow&star != 0
}
