package symptom_test

import (
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
)

func TestIdleObjectsAreRecognized(t *testing.T) {
	for _, test := range []struct {
		kind, status, reason, message string
		want                          bool
	}{
		{"Ready", "False", "NoTraffic", "The target is not receiving traffic.", true},
		{"Ready", "False", "ScaledToZero", "", true},
		{"Ready", "False", "ReconciliationPaused", "", true},
		{"Available", "False", "Superseded", "", true},
		{"Healthy", "Unknown", "InStandby", "", true},
		{"Ready", "False", "Drained", "", true},
		{"Ready", "False", "NotNeeded", "", true},
		{"Ready", "False", "Off", "The machine is suspended", true},
		{"Ready", "False", "Off", "scaled down to zero", true},
		{"Ready", "True", "NoTraffic", "", false},
		{"Other", "False", "NoTraffic", "", false},
		{"Ready", "False", "", "", false},
		{"Ready", "False", "PauseFailed", "", false},
		{"Ready", "False", "StoppedUnexpectedly", "", false},
		{"Ready", "False", "NotStopped", "", false},
		{"Available", "Unknown", "LeaseUpdateStopped", "The agent stopped updating its lease", false},
		{"Ready", "False", "IdleTimeout", "", false},
		{"Ready", "False", "Off", "The machine is stopped, because its disk failed", false},
		{"Ready", "False", "DependencyNotReady", "The source is suspended", false},
		{"Ready", "False", "NoEndpoints", "No traffic arrives", false},
	} {
		t.Run(strings.Join([]string{test.kind, test.status, test.reason, test.message}, " "), func(t *testing.T) {
			o := map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
				"type": test.kind, "status": test.status, "reason": test.reason, "message": test.message,
			}}}}
			if got := symptom.IsIdle(o); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
