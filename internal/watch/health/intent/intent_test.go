package intent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
)

func TestIsEndedByPerson(t *testing.T) {
	for text, want := range map[string]bool{
		"Promotion aborted per user request":                       true,
		"Cancelled by user":                                        true,
		"the build was canceled by the user.":                      true,
		"Run terminated by user at 2026-01-01T10:00:00Z":           true,
		"backup stopped on user request":                           true,
		"The job was manually stopped":                             true,
		"execution was aborted manually":                           true,
		"user requested cancellation":                              true,
		"user has aborted the upgrade":                             true,
		"container was terminated by user code":                    false,
		"query aborted by user-defined function":                   false,
		"context canceled":                                         false,
		"aborted: connection reset":                                false,
		"terminating connection due to administrator command":      false,
		"must be stopped manually before the upgrade":              false,
		"stopped by user agent policy":                             false,
		"ORA-01013: user requested cancel of current operation":    false,
		"User interrupted execution":                               false,
		"user requested the termination of the run":                true,
		strings.Repeat("x ", 4096) + "aborted by user":             false,
		"stopped: too many restarts":                               false,
		"cannot continue, delete the volume manually":              false,
		"the upgrade was aborted, so the user must start it again": false,
		"the user was rejected, because the session was stopped":   false,
	} {
		t.Run(fmt.Sprintf("%.80s", text), func(t *testing.T) {
			if got := intent.IsEndedByPerson("", text); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	for reason, want := range map[string]bool{
		"Cancelled": true, "PipelineRunCancelled": true, "CancelledByUser": true, "AbortedByUser": true,
		"UserAborted": true, "ManuallyStopped": true, "ContextCanceled": false, "Aborted": false, "Terminated": false,
		"StoppedUnexpectedly": false, "UserNotFound": false,
	} {
		t.Run(reason, func(t *testing.T) {
			if got := intent.IsEndedByPerson(reason, ""); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
