package inherit

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// A problem begins when the object is degraded or failed, also after it was progressing for long. It continues if the
// object is progressing for a short time.
func TestEpisodes(t *testing.T) {
	const ok, progressing, failed = verdict.OK, verdict.Progressing, verdict.Failed
	for name, test := range map[string]struct {
		severities []verdict.Severity // One every 10 minutes.
		unobserved int                // The number of severities that are not observed.
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
				var r results
				r.reset()
				id := graph.NewID(graph.Kind{Kind: "Pod"}, "a", "p")
				start := time.Now()
				for n, severity := range test.severities {
					r.track(id, verdict.Pack(nil, &verdict.Verdict{Severity: severity}), n >= test.unobserved)
					<-time.After(10 * time.Minute)
				}
				index := func(at time.Time) int {
					if at.IsZero() {
						return -1
					}
					return int(at.Sub(start) / (10 * time.Minute))
				}
				if leftOK, began := r.began(id); index(leftOK) != test.leftOK || index(began) != test.began {
					t.Errorf("got left OK %d, began %d; want %d, %d", index(leftOK), index(began), test.leftOK, test.began)
				}
			})
		})
	}
}

// New verdicts count as observed some time after all objects have been evaluated.
func TestObservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observation
		want := func(isRunning bool, when string) {
			t.Helper()
			if o.isRunning() != isRunning {
				t.Errorf("%s: got %t", when, !isRunning)
			}
		}
		o.complete(o.restartCount())
		want(false, "at once")
		<-time.After(observeDelay)
		want(true, "after the delay")
		o.complete(o.restartCount())
		want(true, "after another evaluation")
		before := o.restartCount()
		o.restart()
		o.complete(before)
		<-time.After(observeDelay)
		want(false, "after an evaluation that began before the restart")
		o.complete(o.restartCount())
		<-time.After(observeDelay)
		want(true, "after the restart")
	})
}
