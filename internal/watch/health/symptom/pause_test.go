package symptom_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
)

// A failed or aborted run is not a problem if a person ended it. Otherwise, it is a problem.
func TestRunsEndedByPerson(t *testing.T) {
	for text, want := range map[string]bool{
		"{status: {phase: Aborted, message: Promotion aborted per user request}}":                                true,
		"{status: {phase: Failed, message: canceled by user}}":                                                   true,
		"{status: {state: ERROR, reason: CancelledByUser}}":                                                      true,
		"{status: {phase: Failed, message: aborted by user, nodes: {a: {phase: Failed}}}}":                       true,
		"{spec: {shutdown: Terminate}, status: {phase: Failed, message: Stopped with strategy Terminate}}":       true,
		"{spec: {cancelled: true}, status: {phase: Failed}}":                                                     true,
		"{status: {conditions: [{type: Succeeded, status: 'False', reason: Failed, message: stopped by user}]}}": true,
		"{status: {conditions: [{type: Failed, status: 'True', reason: JobCancelled}]}}":                         true,
		"{status: {phase: Aborted, message: 'the health check failed, so the promotion was aborted'}}":           false,
		"{status: {phase: Aborted}}":                                    false,
		"{status: {phase: Failed, message: context canceled}}":          false,
		"{spec: {cancelled: false}, status: {phase: Failed}}":           false,
		"{status: {phase: Failed, message: must be aborted manually}}":  false,
		"{status: {phase: Failed, message: 'terminated by user code'}}": false,
	} {
		t.Run(text, func(t *testing.T) {
			s, ok := symptom.Of(decode(t, text), false)
			if got := symptom.IsEndedByPerson(decode(t, text)); got != want || ok == want {
				t.Errorf("got %v and %+v, want %v", got, s, want)
			}
		})
	}
}
