package kinds

import (
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/schedule"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// job returns InProgress while the Job is running, unlike kstatus, which returns Current.
func job(o object.Object, _ result.Status) result.Result {
	succeeded, failed, active :=
		o.Count("status", "succeeded"), o.Count("status", "failed"), o.Count("status", "active")
	h := result.Result{Status: result.InProgress}
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
		h.Status, h.Summary = result.Current, "Completed: "+done
	case failedCondition.Is("True"):
		h.Status, h.Reason = result.Failed, failedCondition.Reason
		h.Summary = "Failed: " + builtin.JobFailure(o, failedCondition)
	case failureTarget.Is("True"):
		h.Status, h.Reason = result.Failed, failureTarget.Reason
		h.Summary = "Failing: " + builtin.JobFailure(o, failureTarget)
	case suspended.Is("True"), o.Flag("spec", "suspend"):
		h.Status, h.Summary = result.Current, "Suspended: "+done
	case !o.Has("status", "startTime"):
		h.Summary, h.Reason = "Not started yet", "NotStarted"
		h.Progress(o.Created(), verdict.Degraded)
		h.ExplainOverdue("Not started", jobController(o)+" might not be running")
	case active+succeeded+failed == 0 && builtin.StartsPods(o):
		h.Summary, h.Reason = "Started, but no pod has been created", "NoPods"
		h.Progress(o.Time("status", "startTime"), verdict.Degraded)
	default:
		h.Summary, h.Reason = fmt.Sprintf("Running: %s active, %s", counted(active, "pod"), done), "Running"
		if limit := o.Seconds("spec", "activeDeadlineSeconds"); limit > 0 {
			h.Progress(o.Time("status", "startTime"), verdict.Degraded)
			h.Promised, h.OverdueReason = limit+reportTime, "DeadlineExceeded"
			h.OverdueSummary = fmt.Sprintf(
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
	return result.ControllerManager
}

// cronJob returns Failed if the newest run ended without success.
func cronJob(o object.Object, _ result.Status) result.Result {
	last, succeeded := o.Text("status", "lastScheduleTime"), o.Text("status", "lastSuccessfulTime")
	active := len(o.Children("status", "active"))
	h := result.Result{Status: result.Current}
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
		h.Status, h.Summary, h.Reason = result.Failed, "Last run did not succeed", "LastRunFailed"
		if succeeded == "" {
			h.Summary = "Last run did not succeed, and no run has succeeded so far"
		}
		h.Severity = verdict.Degraded // Not Failed, because the next run can succeed.
	case succeeded < last:
		h.Summary = "Last run has ended; whether it succeeded is unknown"
	default:
		h.Summary = "Last run succeeded"
	}
	// With the policy Forbid, the controller skips the runs that are due while a job runs.
	isBlocked := active > 0 && o.Text("spec", "concurrencyPolicy") == "Forbid"
	if !isSuspended && !isBlocked && h.Status == result.Current {
		setNextRun(&h, o)
	}
	return h
}

// setNextRun sets the time at which the CronJob becomes degraded, because its next run counts as missed.
func setNextRun(r *result.Result, o object.Object) {
	due, tolerance, ok := schedule.NextRun(o)
	if !ok {
		return
	}
	dueText := due.UTC().Format(time.RFC3339)
	r.Details = append(r.Details, "Next run due at "+dueText)
	deadline := o.Seconds("spec", "startingDeadlineSeconds")
	r.StartedAt, r.Promised, r.Overdue = due, tolerance+max(result.SettleTime, deadline), verdict.Degraded
	r.OverdueReason = "MissedRun"
	r.OverdueSummary = fmt.Sprintf("Missed run: the run due at %s has not started", dueText)
}
