package wording_test

import (
	"cmp"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

func TestErrorsInTextsAreRecognized(t *testing.T) {
	for text, want := range map[string]bool{
		"failed to run instance": true, "Not enough disk space": true, "has enough space": false,
		"Secret x does not exist": true, "context deadline exceeded": true,
		"wrong status code '404'": true, "no errors, but one failure": true,
		"Completed: 2 (Failed: 0, Skipped: 1)": false, "0 failed, 3 done": false, "tasks have failed: 0": true,
		"Failed: 1": true, "error: 0x8007": true,
		"": false, "0 of 2 completed": false, "no errors": false, "Waiting for propagation": false,
		"1: ResolutionFailed | True": false, "without any errors": false,
		"No valid Bindings found": true, "No valid reason to act": false, "no vulnerabilities found": false,
		"Operation cannot be fulfilled on x: the object has been modified": true,
	} {
		t.Run(cmp.Or(text, "empty"), func(t *testing.T) {
			if got := wording.NamesError(text); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
