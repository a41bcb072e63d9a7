// Package builtin explains problems of built-in kinds, such as a Job that reached one of its limits. All functions are
// pure.
package builtin

import (
	"fmt"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
)

// StartsPods reports whether a started Job should have a pod, given that its status counts no pods.
func StartsPods(o object.Object) bool {
	return o.CountOr(1, "spec", "parallelism") > 0 && o.Text("spec", "managedBy") == "" &&
		o.Count("status", "terminating") == 0 &&
		len(o.Texts("status", "uncountedTerminatedPods", "succeeded"))+
			len(o.Texts("status", "uncountedTerminatedPods", "failed")) == 0
}

// JobFailure explains why a Job has failed. It includes the limit that the Job exceeded ("backoff limit of 6
// reached").
func JobFailure(o object.Object, c object.Condition) string {
	switch limit := o.Seconds("spec", "activeDeadlineSeconds"); {
	case c.Reason == "BackoffLimitExceeded":
		return fmt.Sprintf("backoff limit of %d reached", o.CountOr(6, "spec", "backoffLimit"))
	case c.Reason == "DeadlineExceeded" && limit > 0:
		return fmt.Sprintf("deadline of %s exceeded", limit)
	case c.Reason == "FailedIndexes" && o.Text("status", "failedIndexes") != "":
		return "failed indexes " + o.Text("status", "failedIndexes")
	}
	return c.ShortExplanation()
}
