package health

import (
	"cmp"
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// settleTime is the maximum time for progress, for objects without a deadline of their own. It equals the default
// progressDeadlineSeconds of a Deployment.
const settleTime = 10 * time.Minute

// serveTime is the time after which an object that a control loop handles within seconds is overdue. It is the waiting
// time of the alerts KubePersistentVolumeErrors and KubeAggregatedAPIDown of kubernetes-mixin.
const serveTime = 5 * time.Minute

// reportTime is how late a controller can report that the deadline of an object has passed.
const reportTime = time.Minute

// maxSentence limits the sentence of a verdict, in bytes, because each row can have one.
const maxSentence = 300

// result is a Health, with additional data for the verdict.
type result struct {
	Health

	severity verdict.Severity // None means that the status determines the severity.
	reason   string
	okReason string // The reason of a verdict whose severity is None or OK.
	hasRules bool
	// hasNoSeverity means that the object can be neither healthy nor unhealthy.
	hasNoSeverity bool
	// scriptFailed means that the health is unknown because a script had no valid result.
	scriptFailed bool
	// At startedAt + promised, the severity changes from OK or Progressing to the value of the field overdue. If
	// promised is 0, the severity does not change.
	startedAt time.Time
	promised  time.Duration
	overdue   verdict.Severity
	// A ready pod with frequent restarts is degraded until the time restartsUntil. The field restarts is then the
	// sentence of its verdict.
	restarts      string
	restartsUntil time.Time
	// At startedAt + promised, the object becomes overdue. If overdueSummary is not empty, these fields then replace
	// the reason and the summary.
	overdueReason, overdueSummary string
}

// progress makes the object overdue at startedAt + settleTime. A zero startedAt means the time of the object's last
// change.
func (r *result) progress(startedAt time.Time, overdue verdict.Severity) {
	r.startedAt, r.promised, r.overdue = startedAt, settleTime, overdue
	r.overdueReason, r.overdueSummary = "", ""
}

// explainOverdue sets the summary of an overdue object. The summary contains the problem, the minimum time for which it
// has lasted (r.promised), and the likely cause. The reason of the verdict does not change.
func (r *result) explainOverdue(problem, likely string) {
	r.overdueReason = r.reason
	r.overdueSummary = fmt.Sprintf("%s for more than %d minutes: %s", problem, int(r.promised.Minutes()), likely)
}

func (r *result) verdict(now, changedAt time.Time) verdict.Verdict {
	v := verdict.Verdict{Severity: r.severity, Reason: r.reason, Sentence: r.Summary}
	if v.Severity == verdict.None {
		v.Severity = r.severityOfStatus()
	}
	if (v.Severity == verdict.OK || v.Severity == verdict.Progressing) && r.promised > 0 {
		if start := cmp.Or(r.startedAt, changedAt); !start.IsZero() {
			v.OverdueAt = start.Add(r.promised)
		}
		if !v.OverdueAt.IsZero() && !now.Before(v.OverdueAt) {
			v.Severity, v.OverdueAt, r.okReason = r.overdue, time.Time{}, r.overdueReason
			if r.overdueSummary != "" {
				v.Reason, v.Sentence = r.overdueReason, message.Line(r.overdueSummary, maxText)
			}
		}
	}
	if v.Severity == verdict.OK && now.Before(r.restartsUntil) {
		v = verdict.Verdict{
			Severity: verdict.Degraded, Reason: "Restarting", Sentence: message.Capital(r.restarts), OverdueAt: r.restartsUntil,
		}
	}
	if v.Severity <= verdict.OK {
		return verdict.Verdict{Severity: v.Severity, Reason: r.okReason, OverdueAt: v.OverdueAt}
	}
	v.Sentence = message.Cut(v.Sentence, maxSentence)
	return v
}

// severityOfStatus converts r.Status to a severity. Objects that neither a rule nor kstatus understands get None.
func (r *result) severityOfStatus() verdict.Severity {
	switch r.Status {
	case Current:
		if r.hasNoSeverity {
			return verdict.None
		}
		if r.hasRules || r.Summary != "" {
			return verdict.OK
		}
	case InProgress, Terminating:
		return verdict.Progressing
	case Failed:
		return verdict.Failed
	case Unknown:
		if r.hasRules {
			return verdict.Degraded
		}
	}
	return verdict.None
}
