package wording_test

import (
	"cmp"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
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
			if got := wording.IsBadIfTrue(name); got != want {
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
			if got := wording.IsNodeProblem(name); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
