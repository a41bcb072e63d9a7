package health

import "fmt"

// job returns the health of a Job. While the Job is running, the status is InProgress; kstatus reports Current.
func job(o node, _ Status) Health {
	succeeded, failed, active :=
		o.count("status", "succeeded"), o.count("status", "failed"), o.count("status", "active")
	h := Health{Status: InProgress}
	done := fmt.Sprintf("%d have succeeded", succeeded)
	if o.has("spec", "completions") {
		done = fmt.Sprintf("%d of %d have succeeded", succeeded, o.count("spec", "completions"))
	}
	if failed > 0 {
		h.Details = append(h.Details, "pods have failed "+times(failed))
	}
	complete, broken, suspended := o.condition("Complete"), o.condition("Failed"), o.condition("Suspended")
	failing := o.condition("FailureTarget")
	switch {
	case complete.is("True"):
		h.Status, h.Summary = Current, "completed: "+done
	case broken.is("True"):
		h.Status, h.Summary = Failed, "failed: "+broken.why()
	case failing.is("True"):
		h.Status, h.Summary = Failed, "failing: "+failing.why()
	case suspended.is("True"), o.flag("spec", "suspend"):
		h.Status, h.Summary = Current, "suspended: "+done
	case !o.has("status", "startTime"):
		h.Summary = "has not started yet"
	default:
		h.Summary = fmt.Sprintf("running: %d active, %s", active, done)
	}
	return h
}

// cronJob returns the health of a CronJob. It is Failed if the last run has ended without success. The controller
// records the end and the success of a run in one update.
func cronJob(o node, _ Status) Health {
	last, succeeded := o.text("status", "lastScheduleTime"), o.text("status", "lastSuccessfulTime")
	active := len(o.nodes("status", "active"))
	h := Health{Status: Current}
	switch {
	case o.flag("spec", "suspend"):
		h.Summary = "suspended"
	case active > 0:
		h.Summary = fmt.Sprintf("%d of its jobs running now", active)
	case last == "":
		h.Summary = "has not run yet"
	case succeeded < last: // UTC times with a precision of seconds can be compared as texts.
		h.Status, h.Summary = Failed, "the last run has not succeeded"
	default:
		h.Summary = "the last run has succeeded"
	}
	if last != "" {
		h.Details = append(h.Details, "last run begun at "+last)
	}
	if succeeded != "" {
		h.Details = append(h.Details, "last success at "+succeeded)
	}
	return h
}
