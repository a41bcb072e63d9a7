package result

import (
	"cmp"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxSentence limits the sentence of a verdict, in bytes, because each row can have one.
const maxSentence = 300

// Verdict rates the object at the time now. changedAt is when the object last changed; the zero Time if that is
// unknown.
func (r *Result) Verdict(now, changedAt time.Time) verdict.Verdict {
	v := verdict.Verdict{Severity: r.Severity, Reason: r.Reason, Sentence: r.Summary}
	okReason := r.OKReason
	if v.Severity == verdict.None {
		v.Severity = r.severityOfStatus()
	}
	if (v.Severity == verdict.OK || v.Severity == verdict.Progressing) && r.Promised > 0 {
		if start := cmp.Or(r.StartedAt, changedAt); !start.IsZero() {
			v.OverdueAt = start.Add(r.Promised)
		}
		if !v.OverdueAt.IsZero() && !now.Before(v.OverdueAt) {
			v.Severity, v.OverdueAt, okReason = r.Overdue, time.Time{}, r.OverdueReason
			if r.OverdueSummary != "" {
				v.Reason, v.Sentence = r.OverdueReason, message.Line(r.OverdueSummary, maxText)
			}
		}
	}
	if v.Severity == verdict.OK && now.Before(r.RestartsUntil) {
		v = verdict.Verdict{
			Severity: verdict.Degraded, Reason: "Restarting", Sentence: message.Capital(r.Restarts), OverdueAt: r.RestartsUntil,
		}
	}
	if v.Severity <= verdict.OK {
		return verdict.Verdict{Severity: v.Severity, Reason: okReason, OverdueAt: v.OverdueAt}
	}
	v.Sentence = message.Cut(v.Sentence, maxSentence)
	return v
}

// severityOfStatus converts r.Status to a severity. Objects that neither a rule nor kstatus understands get None.
func (r *Result) severityOfStatus() verdict.Severity {
	switch r.Status {
	case Current:
		if r.HasNoSeverity {
			return verdict.None
		}
		if r.HasRules || r.Summary != "" {
			return verdict.OK
		}
	case InProgress, Terminating:
		return verdict.Progressing
	case Failed:
		return verdict.Failed
	case Unknown:
		if r.HasRules {
			return verdict.Degraded
		}
	}
	return verdict.None
}
