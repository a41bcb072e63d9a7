package health

import (
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/schedule"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// job returns InProgress while the Job is running, unlike kstatus, which returns Current.
func job(o object.Object, _ Status) result {
	succeeded, failed, active :=
		o.Count("status", "succeeded"), o.Count("status", "failed"), o.Count("status", "active")
	h := result{Health: Health{Status: InProgress}}
	done := fmt.Sprintf("%d succeeded", succeeded)
	if o.Has("spec", "completions") {
		done = fmt.Sprintf("%d of %d succeeded", succeeded, o.Count("spec", "completions"))
	}
	if failed > 0 {
		h.Details = append(h.Details, counted(failed, "pod")+" failed")
	}
	complete, failedCondition, suspended := o.Condition("Complete"), o.Condition("Failed"), o.Condition("Suspended")
	failureTarget := o.Condition("FailureTarget")
	switch {
	case complete.Is("True"):
		h.Status, h.Summary = Current, "Completed: "+done
	case failedCondition.Is("True"):
		h.Status, h.Summary, h.reason = Failed, "Failed: "+builtin.JobFailure(o, failedCondition), failedCondition.Reason
	case failureTarget.Is("True"):
		h.Status, h.Summary, h.reason = Failed, "Failing: "+builtin.JobFailure(o, failureTarget), failureTarget.Reason
	case suspended.Is("True"), o.Flag("spec", "suspend"):
		h.Status, h.Summary = Current, "Suspended: "+done
	case !o.Has("status", "startTime"):
		h.Summary, h.reason = "Not started yet", "NotStarted"
		h.progress(o.Created(), verdict.Degraded)
		h.explainOverdue("Not started", jobController(o)+" might not be running")
	case active+succeeded+failed == 0 && builtin.StartsPods(o):
		h.Summary, h.reason = "Started, but no pod has been created", "NoPods"
		h.progress(o.Time("status", "startTime"), verdict.Degraded)
	default:
		h.Summary, h.reason = fmt.Sprintf("Running: %s active, %s", counted(active, "pod"), done), "Running"
		if limit := o.Seconds("spec", "activeDeadlineSeconds"); limit > 0 {
			h.progress(o.Time("status", "startTime"), verdict.Degraded)
			h.promised, h.overdueReason = limit+reportTime, "DeadlineExceeded"
			h.overdueSummary = fmt.Sprintf(
				"Still running after its deadline of %s: %s might not be running", limit, jobController(o),
			)
		}
	}
	return h
}

// jobController names the controller that starts and ends the pods of a Job.
func jobController(o object.Object) string {
	if by := o.Text("spec", "managedBy"); by != "" && by != "kubernetes.io/job-controller" {
		return "its controller " + by + " (spec.managedBy)"
	}
	return controllerManager
}

// cronJob returns Failed if the newest run ended without success.
func cronJob(o object.Object, _ Status) result {
	last, succeeded := o.Text("status", "lastScheduleTime"), o.Text("status", "lastSuccessfulTime")
	active := len(o.Children("status", "active"))
	h := result{Health: Health{Status: Current}}
	if last != "" {
		h.Details = append(h.Details, "Last scheduled at "+last)
	}
	if succeeded != "" {
		h.Details = append(h.Details, "Last success at "+succeeded)
	}
	isSuspended := o.Flag("spec", "suspend")
	switch {
	case isSuspended:
		h.Summary = "Suspended"
	case active > 0:
		h.Summary = counted(int64(active), "job") + " running"
	case last == "":
		h.Summary = "Not run yet"
	case schedule.LastRunFailed(o):
		h.Status, h.Summary, h.reason = Failed, "Last run did not succeed", "LastRunFailed"
		if succeeded == "" {
			h.Summary = "Last run did not succeed, and no run has succeeded so far"
		}
		h.severity = verdict.Degraded // Not Failed, because the next run can succeed.
	case succeeded < last:
		h.Summary = "Last run has ended; whether it succeeded is unknown"
	default:
		h.Summary = "Last run succeeded"
	}
	// With the policy Forbid, the controller skips the runs that are due while a job runs.
	isBlocked := active > 0 && o.Text("spec", "concurrencyPolicy") == "Forbid"
	if !isSuspended && !isBlocked && h.Status == Current {
		h.setNextRun(o)
	}
	return h
}

// setNextRun sets the time at which the CronJob becomes degraded, because its next run counts as missed.
func (r *result) setNextRun(o object.Object) {
	due, tolerance, ok := schedule.NextRun(o)
	if !ok {
		return
	}
	dueText := due.UTC().Format(time.RFC3339)
	r.Details = append(r.Details, "Next run due at "+dueText)
	deadline := o.Seconds("spec", "startingDeadlineSeconds")
	r.startedAt, r.promised, r.overdue = due, tolerance+max(settleTime, deadline), verdict.Degraded
	r.overdueReason = "MissedRun"
	r.overdueSummary = fmt.Sprintf("Missed run: the run due at %s has not started", dueText)
}
