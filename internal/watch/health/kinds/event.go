package kinds

import (
	"cmp"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// event rates events of type Warning as degraded, so that a list of events shows them. Other events have no severity:
// that something happened is neither good nor bad.
func event(o object.Object, _ result.Status) result.Result {
	// Events of the group events.k8s.io have the member note instead of message.
	text := cmp.Or(o.Text("message"), o.Text("note"), o.Text("reason"), "No message")
	if o.Text("type") != "Warning" {
		return result.Result{Status: result.Current, Summary: text, HasNoSeverity: true}
	}
	return result.Result{Status: result.Failed, Summary: text, Reason: o.Text("reason"), Severity: verdict.Degraded}
}
