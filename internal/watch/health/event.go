package health

import (
	"cmp"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// event gives a warning the severity degraded, so that a list of events shows warnings. Other events have no severity:
// that something happened is neither good nor bad.
func event(o object, _ Status) result {
	// The group events.k8s.io has the member note.
	text := cmp.Or(o.text("message"), o.text("note"), o.text("reason"), "No message")
	if o.text("type") != "Warning" {
		return result{Health: Health{Status: Current, Summary: text}, hasNoSeverity: true}
	}
	return result{
		Health: Health{Status: Failed, Summary: text}, reason: o.text("reason"), severity: verdict.Degraded,
	}
}
