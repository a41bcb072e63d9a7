package kinds

import (
	"cmp"
	"slices"
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
	default:
		reportShared(&h, o)
	}
	return h
}

// reportShared reports a resource that another Application deploys, too, and has overwritten.
func reportShared(h *result.Result, o object.Object) {
	for _, c := range o.Conditions() {
		if c.Kind == "SharedResourceWarning" && isChangedByOther(o, c.Message) {
			h.Status, h.Severity, h.Reason, h.Summary = result.Failed, verdict.Degraded, c.Kind, c.Message
		}
	}
}

// isChangedByOther reports whether the resource that a message names first, as KIND/NAME, differs from the source of
// the Application. If it does not differ, for example because it is a namespace without content, the warning has no effect.
func isChangedByOther(o object.Object, message string) bool {
	name, _, _ := strings.Cut(message, " ")
	return slices.ContainsFunc(o.Children("status", "resources"), func(r object.Object) bool {
		return r.Text("kind")+"/"+r.Text("name") == name && r.Text("status") == "OutOfSync"
	})
}
