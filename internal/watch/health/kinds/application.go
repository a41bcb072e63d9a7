package kinds

import (
	"cmp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// application returns the health of an Application of Argo CD: the worst of its error conditions, its last sync and its
// resources. Argo CD itself has no script for this kind.
func application(o object.Object, _ result.Status) result.Result {
	summary := message.SyncState(o.Text("status", "sync", "status"), o.Text("status", "health", "status"))
	h := result.Result{Status: result.Current, Summary: summary}
	for _, c := range o.Conditions() {
		if strings.HasSuffix(c.Kind, "Error") {
			h.Status, h.Severity, h.Reason = result.Failed, verdict.Degraded, c.Kind
			h.Summary = c.Kind + ": " + c.Message
			break
		}
	}
	if phase := o.Text("status", "operationState", "phase"); phase == "Failed" || phase == "Error" {
		h.Status, h.Severity, h.Reason = result.Failed, verdict.Degraded, "SyncFailed"
		h.Summary = "Last sync failed: " + cmp.Or(o.Text("status", "operationState", "message"), "no reason given")
	}
	switch health := o.Text("status", "health", "status"); {
	case health == "Missing" && h.Status == result.Failed:
		// The error of the sync is the reason why a resource is missing.
	case health == "Degraded" || health == "Missing":
		h.Status, h.Severity, h.Reason = result.Failed, verdict.Degraded, health
		h.Summary = cmp.Or(o.Text("status", "health", "message"), "A resource of the Application is "+strings.ToLower(health))
	case h.Status == result.Failed:
	case health == "Progressing":
		h.Status, h.Summary, h.Reason = result.InProgress, "A resource of the Application is progressing", health
		h.Progress(o.Time("status", "health", "lastTransitionTime"), verdict.Degraded)
	case health == "":
		h.Status, h.HasNoSeverity, h.Summary = result.Current, true, "Argo CD has not compared it with its source yet"
	}
	return h
}
