package shared

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// VisibleState returns the informer's state for a filter's namespaces. It omits data that the viewer is not permitted
// to see.
func (i *Informer) VisibleState(f *query.Filter) informer.State {
	now := i.CurrentState(f.Namespaces)
	if f.IsPartial && now.Status.Namespaces == nil && !now.Status.State.IsRefused() {
		now.Status.Namespaces = f.Namespaces
	}
	if f.IsGuest {
		redactStatus(f, &now.Status)
	}
	if f.IsRestricted {
		now.Status.Count, now.Status.Total = nil, nil // These numbers include hidden objects.
	}
	return now
}

// redactStatus removes what guests must not see: names of namespaces, and reasons, which can contain names and
// numbers. Only a PublicReason is sent unchanged.
func redactStatus(f *query.Filter, current *status.Status) {
	if len(f.Named) == 0 {
		current.Namespaces = nil
	}
	switch {
	case current.PublicReason != "":
		current.Reason = current.PublicReason
	case current.State == status.Failed:
		current.Reason = "The resource cannot be watched now."
	case current.State == status.Forbidden:
		// Replace the API server's text, which names the service account or user of this program.
		current.Reason = "Glasshouse is not allowed to list these objects."
	case current.State == status.Absent:
	case current.Namespaces != nil:
		current.Reason = "this link includes no other namespaces."
	default:
		current.Reason = ""
	}
}
