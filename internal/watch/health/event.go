package health

import (
	"cmp"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// event rates events of type Warning as degraded, so that a list of events shows them. Other events have no severity:
// that something happened is neither good nor bad.
func event(o object.Object, _ Status) result {
	// Events of the group events.k8s.io have the member note instead of message.
	text := cmp.Or(o.Text("message"), o.Text("note"), o.Text("reason"), "No message")
	if o.Text("type") != "Warning" {
		return result{Health: Health{Status: Current, Summary: text}, hasNoSeverity: true}
	}
	return result{Health: Health{Status: Failed, Summary: text}, reason: o.Text("reason"), severity: verdict.Degraded}
}
