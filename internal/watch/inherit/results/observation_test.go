package results

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// A problem begins when the object becomes degraded or failed, even if it was progressing for a long time before. The
// problem continues while the object is progressing for a short time.
func TestProblemBeginsWhenObjectDegrades(t *testing.T) {
	const ok, progressing, failed = verdict.OK, verdict.Progressing, verdict.Failed
	for name, test := range map[string]struct {
		severities []verdict.Severity // One every 10 minutes.
		unobserved int                // The number of severities, from the start, that the engine did not observe.
		// Indexes in severities: where the object left OK, and where its problem began; -1 for unknown.
		leftOK, began int
	}{
		"a problem":                        {[]verdict.Severity{ok, failed}, 0, 1, 1},
		"a known problem":                  {[]verdict.Severity{failed, failed}, 1, -1, -1},
		"failed after progress":            {[]verdict.Severity{ok, progressing, progressing, failed}, 0, 1, 3},
		"failed after unobserved progress": {[]verdict.Severity{progressing, progressing, failed}, 1, -1, 2},
		"an interruption":                  {[]verdict.Severity{ok, failed, progressing, failed}, 0, 1, 1},
		"a long interruption":              {[]verdict.Severity{ok, failed, progressing, progressing, failed}, 0, 1, 4},
		"an interruption of a known one":   {[]verdict.Severity{failed, progressing, failed}, 1, -1, -1},
		"repaired and broken again":        {[]verdict.Severity{ok, failed, ok, failed}, 0, 3, 3},
		"degraded, then failed":            {[]verdict.Severity{ok, verdict.Degraded, failed}, 0, 1, 1},
		"repaired":                         {[]verdict.Severity{ok, failed, ok}, 0, -1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r Results
				r.Reset()
				id := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "p")
				start := time.Now()
				for n, severity := range test.severities {
					r.Track(id, verdict.Pack(nil, &verdict.Verdict{Severity: severity}), n >= test.unobserved)
					<-time.After(10 * time.Minute)
				}
				index := func(at time.Time) int {
					if at.IsZero() {
						return -1
					}
					return int(at.Sub(start) / (10 * time.Minute))
				}
				if leftOK, began := r.Began(id); index(leftOK) != test.leftOK || index(began) != test.began {
					t.Errorf("got left OK %d, began %d; want %d, %d", index(leftOK), index(began), test.leftOK, test.began)
				}
			})
		})
	}
}

// A problem continues after a recovery that is shorter than the back-off of a container that crashes.
func TestShortRecoveryContinuesAnEpisode(t *testing.T) {
	for name, test := range map[string]struct {
		recovery     time.Duration
		isObserved   bool // Whether the engine observed the first problem.
		isProgress   bool // Whether the object is progressing before it fails again.
		isRecreated  bool
		leftOK, want time.Duration // After the start of the test; -1 for unknown.
	}{
		"short":           {time.Minute, true, false, false, 0, 0},
		"long":            {6 * time.Minute, true, false, false, 26 * time.Minute, 26 * time.Minute},
		"with progress":   {time.Minute, true, true, false, 0, 0},
		"of a known one":  {time.Minute, false, false, false, -1, 0},
		"of a new object": {time.Minute, true, false, true, 21 * time.Minute, 21 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r Results
				r.Reset()
				id := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "p")
				start := time.Now()
				track := func(severity verdict.Severity, isObserved bool, pause time.Duration) {
					r.Track(id, verdict.Pack(nil, &verdict.Verdict{Severity: severity}), isObserved)
					<-time.After(pause)
				}
				track(verdict.Failed, test.isObserved, 20*time.Minute)
				track(verdict.OK, true, test.recovery)
				if r.IsProblem(id) {
					t.Error("the object is OK, but counts as a problem")
				}
				if test.isRecreated {
					r.Remove(id)
				}
				if test.isProgress {
					track(verdict.Progressing, true, time.Minute)
				}
				track(verdict.Failed, true, time.Minute)
				after := func(at time.Time) time.Duration {
					if at.IsZero() {
						return -1
					}
					return at.Sub(start)
				}
				if leftOK, began := r.Began(id); after(leftOK) != test.leftOK || after(began) != test.want {
					t.Errorf("got left OK %s, began %s; want %s, %s", after(leftOK), after(began), test.leftOK, test.want)
				}
			})
		})
	}
}

// The engine removes the episodes (times with a problem) of recovered objects after some time.
func TestRecoveredEpisodesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Results
		r.Reset()
		for _, name := range []string{"p", "q", "r"} {
			id := graph.NewID(graph.Kind{Kind: "Pod"}, "a", name)
			r.Track(id, verdict.Pack(nil, &verdict.Verdict{Severity: verdict.Failed}), true)
			r.Track(id, verdict.Pack(nil, &verdict.Verdict{Severity: verdict.OK}), true)
			<-time.After(maxRecovery + time.Second)
		}
		if got := len(r.recovered); got != 1 {
			t.Errorf("got %d episodes, want only the newest", got)
		}
	})
}

// New verdicts count as new in the cluster only from observeDelay after the evaluation of all objects.
func TestVerdictsAreNewOnlyAfterObserveDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o Observation
		want := func(isRunning bool, when string) {
			t.Helper()
			if o.IsRunning() != isRunning {
				t.Errorf("%s: got %t", when, !isRunning)
			}
		}
		o.Complete(o.RestartCount())
		want(false, "at once")
		<-time.After(observeDelay)
		want(true, "after the delay")
		o.Complete(o.RestartCount())
		want(true, "after another evaluation")
		before := o.RestartCount()
		o.Restart()
		o.Complete(before)
		<-time.After(observeDelay)
		want(false, "after an evaluation that began before the restart")
		o.Complete(o.RestartCount())
		<-time.After(observeDelay)
		want(true, "after the restart")
	})
}
