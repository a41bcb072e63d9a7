package health_test

import (
	"cmp"
	"regexp"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// The verdict depends only on the object and the time. Progress that takes too long becomes a problem.
//
// Invariant: I12.
func TestVerdictsDependOnlyOnObjectAndTime(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			changedAt := newestTime(f.object)
			got, want := evaluator.Evaluate(f.object, changedAt.Add(time.Minute), changedAt), f.wantVerdict
			if got.Severity != want.Severity || got.Reason != want.Reason {
				t.Errorf("got severity %s, reason %q; want %s, %q", got.Severity, got.Reason, want.Severity, want.Reason)
			}
			if hasSentence := got.Sentence != ""; hasSentence != (got.Severity > verdict.OK) {
				t.Errorf("severity %s: got sentence %q", got.Severity, got.Sentence)
			}
			overdue := max(want.Severity, want.Overdue)
			nextDay := changedAt.Add(24 * time.Hour)
			later := evaluator.Evaluate(f.object, nextDay, changedAt)
			if later.Severity != overdue {
				t.Errorf("a day later: got severity %s, want %s", later.Severity, overdue)
			}
			wantOverdue := !got.OverdueAt.IsZero() && !got.OverdueAt.After(nextDay)
			if isOverdue := later.Severity != got.Severity || later.Reason != got.Reason; isOverdue != wantOverdue {
				t.Errorf("OverdueAt is %v, but the verdict after it is %s, %s", got.OverdueAt, later.Severity, later.Reason)
			}
			f.wantVerdict.checkOverdue(t, f.object, &later)
			if want.Severity <= verdict.OK != (f.want.Status == result.Current) && f.want.Status != result.Unknown {
				t.Errorf("the status %s does not agree with the severity %s", f.want.Status, want.Severity)
			}
		})
	}
}

// checkOverdue checks the verdict one second before the fixture's deadline, and at the deadline. The parameter later is
// the expected verdict at the deadline. If the fixture has no deadline, checkOverdue does nothing.
func (w *wantVerdict) checkOverdue(t *testing.T, object []byte, later *verdict.Verdict) {
	t.Helper()
	if w.Deadline == "" {
		return
	}
	deadline, err := time.ParseDuration(w.Deadline)
	if err != nil {
		t.Fatal(err)
	}
	start := newestTime(object)
	for name, test := range map[string]struct {
		now        time.Time
		wantReason string
	}{
		"a second before the deadline": {start.Add(deadline - time.Second), w.Reason},
		"at the deadline":              {start.Add(deadline), later.Reason},
	} {
		got := evaluator.Evaluate(object, test.now, start)
		isLate := got.Severity == later.Severity && got.Reason == later.Reason && got.Sentence == later.Sentence
		if got.Reason != test.wantReason || isLate != (name == "at the deadline") {
			t.Errorf("%s: got %+v, want %s, %q", name, got, test.wantReason, later.Sentence)
		}
	}
	if wantReason := cmp.Or(w.OverdueReason, w.Reason); later.Reason != wantReason || later.Sentence != w.Sentence {
		t.Errorf("overdue: got %s, %q; want %s, %q", later.Reason, later.Sentence, wantReason, w.Sentence)
	}
}

// newestTime returns the newest time in an object, but at least the start of 2026.
func newestTime(object []byte) time.Time {
	newest := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, text := range regexp.MustCompile(`20\d\d-[\d-]+T[\d:]+Z`).FindAll(object, -1) {
		if at, err := time.Parse(time.RFC3339, string(text)); err == nil && at.After(newest) {
			newest = at
		}
	}
	return newest
}

// maxEvaluation is the maximum time for the evaluation of a ready pod, because it happens at each update. Pods with a
// problem take longer: see docs/limits.md.
const maxEvaluation = 3 * time.Microsecond

// BenchmarkEvaluate measures the evaluation of a ready pod, and of a pod with a problem.
func BenchmarkEvaluate(b *testing.B) {
	for _, f := range fixtures(b) {
		if f.name != "pod/ready" && f.name != "pod/crash-loop" {
			continue
		}
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				evaluator.Evaluate(f.object, time.Time{}, time.Time{})
			}
			if each := b.Elapsed() / time.Duration(b.N); f.name == "pod/ready" && each > maxEvaluation {
				b.Errorf("got %v, want at most %v", each, maxEvaluation)
			}
		})
	}
}

// The evaluation of a ready pod allocates no memory. This is only possible without decoding the pod, which would take
// many times as long.
func TestReadyPodsAreNotDecoded(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.name != "pod/ready" {
			continue
		}
		allocations := testing.AllocsPerRun(100, func() { evaluator.Evaluate(f.object, time.Time{}, time.Time{}) })
		if allocations > 0 {
			t.Errorf("got %v allocations, want none", allocations)
		}
		return
	}
	t.Error("there is no fixture of a ready pod")
}

// The sentence of an overdue object explains the delay. For example, it names the probe of a pod that is not ready.
func TestOverdueSentenceExplainsTheDelay(t *testing.T) {
	for name, want := range map[string]string{
		"pod/readiness-probe":                "0/1 containers ready: container web does not pass its readiness probe",
		"pod/startup-probe":                  "0/1 containers ready: container web has not passed its startup probe",
		"horizontalpodautoscaler/at-maximum": "At its maximum of 10 replicas, and its metrics require more",
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range fixtures(t) {
				if f.name != name {
					continue
				}
				changedAt := newestTime(f.object)
				if got := evaluator.Evaluate(f.object, changedAt.Add(time.Hour), changedAt); got.Sentence != want {
					t.Errorf("got %q, want %q", got.Sentence, want)
				}
			}
		})
	}
}

// A CronJob becomes degraded when its next run is overdue, even without an update of the object.
func TestMissedRunDegradesCronJob(t *testing.T) {
	due := time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	for _, f := range fixtures(t) {
		if f.name != "cronjob/succeeded" {
			continue
		}
		got := evaluator.Evaluate(f.object, due, due)
		want := verdict.Verdict{Severity: verdict.OK, OverdueAt: due.Add(10 * time.Minute)}
		if got != want {
			t.Errorf("when the run is due: got %+v, want %+v", got, want)
		}
		got = evaluator.Evaluate(f.object, want.OverdueAt, due)
		want = verdict.Verdict{
			Severity: verdict.Degraded, Reason: "MissedRun",
			Sentence: "Missed run: the run due at 2026-11-21T11:00:00Z has not started",
		}
		if got != want {
			t.Errorf("10 minutes later: got %+v, want %+v", got, want)
		}
	}
}
