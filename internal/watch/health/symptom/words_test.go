package symptom_test

import (
	"cmp"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
)

func TestBadConditionTypesAreRecognized(t *testing.T) {
	for name, want := range map[string]bool{
		"Dangling": true, "ResolutionFailed": true, "CatalogSourcesUnhealthy": true, "ErrorOccurred": true, "Stalled": true,
		"ConfigUnsupported": true, "Conflicted": true, "InvalidSpec": true, "ReadonlyFilesystem": true, "HasErrors": true,
		"MissingPeerConfigs": true, "example.com/ConflictingRoutes": true,
		"FailedCreatePod": true, "KernelDeadlock": true, "NotReady": true, "PartiallyInvalid": true, "DeadlineExceeded": true,
		"":      false,
		"Ready": false, "NoErrors": false, "NotDegraded": false, "Paused": false, "Fallback": false, "NoPodsMatched": false,
		"LowConfidence": false, "Progressing": false, "NonStructuralSchema": false, "ScalingLimited": false, "Warning": false,
		"Failover": false, "FailureTarget": false, "DeletionIsBlocked": false, "LiveMigratable": false, "EtcdIsVoter": false,
		"OnFailure": false, "InvalidatedCache": false, "UpdateAvailable": false, "InstallPlanMissing": false,
		"MemoryPressure": false, "BudgetExceeded": false,
	} {
		t.Run(cmp.Or(name, "empty"), func(t *testing.T) {
			if got := symptom.IsBadIfTrue(name); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestNodeProblemsAreRecognized(t *testing.T) {
	for name, want := range map[string]bool{
		"MemoryPressure": true, "PIDPressure": true, "NetworkUnavailable": true, "FrequentKubeletRestart": true,
		"CorruptDockerOverlay2": true, "KubeletProblem": true, "KernelDeadlock": true,
		"Ready": false, "EtcdIsVoter": false, "VMEventScheduled": false, "KernelReady": false, "": false,
	} {
		t.Run(cmp.Or(name, "empty"), func(t *testing.T) {
			if got := symptom.IsNodeProblem(name); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

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
			if got := symptom.NamesError(text); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
