package health

import (
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/schedule"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// job returns InProgress while the Job is running, unlike kstatus, which returns Current.
func job(o object, _ Status) result {
	succeeded, failed, active :=
		o.count("status", "succeeded"), o.count("status", "failed"), o.count("status", "active")
	h := result{Health: Health{Status: InProgress}}
	done := fmt.Sprintf("%d succeeded", succeeded)
	if o.has("spec", "completions") {
		done = fmt.Sprintf("%d of %d succeeded", succeeded, o.count("spec", "completions"))
	}
	if failed > 0 {
		h.Details = append(h.Details, counted(failed, "pod")+" failed")
	}
	complete, failedCondition, suspended := o.condition("Complete"), o.condition("Failed"), o.condition("Suspended")
	failureTarget := o.condition("FailureTarget")
	switch {
	case complete.is("True"):
		h.Status, h.Summary = Current, "Completed: "+done
	case failedCondition.is("True"):
		h.Status, h.Summary, h.reason = Failed, "Failed: "+jobFailureText(o, failedCondition), failedCondition.reason
	case failureTarget.is("True"):
		h.Status, h.Summary, h.reason = Failed, "Failing: "+jobFailureText(o, failureTarget), failureTarget.reason
	case suspended.is("True"), o.flag("spec", "suspend"):
		h.Status, h.Summary = Current, "Suspended: "+done
	case !o.has("status", "startTime"):
		h.Summary, h.reason = "Not started yet", "NotStarted"
		h.progress(o.time("metadata", "creationTimestamp"), verdict.Degraded)
	case active+succeeded+failed == 0 && startsPods(o):
		h.Summary, h.reason = "Started, but no pod has been created", "NoPods"
		h.progress(o.time("status", "startTime"), verdict.Degraded)
	default:
		h.Summary, h.reason = fmt.Sprintf("Running: %d active, %s", active, done), "Running"
	}
	return h
}

// startsPods reports whether the Job controller should have created a pod of a started Job that counts none.
func startsPods(o object) bool {
	return o.countOr(1, "spec", "parallelism") > 0 && o.text("spec", "managedBy") == "" &&
		o.count("status", "terminating") == 0 &&
		len(o.texts("status", "uncountedTerminatedPods", "succeeded"))+
			len(o.texts("status", "uncountedTerminatedPods", "failed")) == 0
}

// jobFailureText explains why a Job has failed, with the limits of its specification.
func jobFailureText(o object, c condition) string {
	switch limit := o.count("spec", "activeDeadlineSeconds"); {
	case c.reason == "BackoffLimitExceeded":
		return fmt.Sprintf("backoff limit of %d reached", o.countOr(6, "spec", "backoffLimit"))
	case c.reason == "DeadlineExceeded" && limit > 0:
		return fmt.Sprintf("deadline of %s exceeded", time.Duration(limit)*time.Second)
	case c.reason == "FailedIndexes" && o.text("status", "failedIndexes") != "":
		return "failed indexes " + o.text("status", "failedIndexes")
	}
	return c.shortExplanation()
}

// cronJob returns Failed if the newest run ended without success.
func cronJob(o object, _ Status) result {
	last, succeeded := o.text("status", "lastScheduleTime"), o.text("status", "lastSuccessfulTime")
	active := len(o.children("status", "active"))
	h := result{Health: Health{Status: Current}}
	if last != "" {
		h.Details = append(h.Details, "Last scheduled at "+last)
	}
	if succeeded != "" {
		h.Details = append(h.Details, "Last success at "+succeeded)
	}
	isSuspended := o.flag("spec", "suspend")
	switch {
	case isSuspended:
		h.Summary = "Suspended"
	case active > 0:
		h.Summary = counted(int64(active), "job") + " running"
	case last == "":
		h.Summary = "Not run yet"
	// The controller writes a run's end and success together, so successful runs never match.
	case succeeded < last && keepsJobs(o): // RFC 3339 times in UTC, in seconds, sort as text
		h.Status, h.Summary, h.reason = Failed, "Last run did not succeed", "LastRunFailed"
		if succeeded == "" {
			h.Summary = "Last run did not succeed, and no run before it"
		}
		h.severity = verdict.Degraded // The next run can succeed.
	case succeeded < last:
		h.Summary = "Last run has ended"
	default:
		h.Summary = "Last run succeeded"
	}
	// With the policy Forbid, the controller skips the runs that are due while a job runs.
	isBlocked := active > 0 && o.text("spec", "concurrencyPolicy") == "Forbid"
	if !isSuspended && !isBlocked && h.Status == Current {
		h.setNextRun(o)
	}
	return h
}

// keepsJobs reports whether a finished job exists long enough for the controller to see whether it succeeded.
func keepsJobs(o object) bool {
	const enough = 60
	return o.countOr(enough, "spec", "jobTemplate", "spec", "ttlSecondsAfterFinished") >= enough
}

// setNextRun limits the health of a CronJob to the time when its next run counts as missed.
func (r *result) setNextRun(o object) {
	due, tolerance, ok := schedule.Next(
		o.text("spec", "schedule"), o.text("spec", "timeZone"), o.time("status", "lastScheduleTime"), created(o),
	)
	if !ok {
		return
	}
	dueText := due.UTC().Format(time.RFC3339)
	r.Details = append(r.Details, "Next run due at "+dueText)
	deadline := time.Duration(o.count("spec", "startingDeadlineSeconds")) * time.Second
	r.startedAt, r.promised, r.overdue = due, tolerance+max(settleTime, deadline), verdict.Degraded
	r.overdueReason = "MissedRun"
	r.overdueSummary = fmt.Sprintf("Missed run: the run due at %s has not started", dueText)
}
