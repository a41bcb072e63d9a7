package shared

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// VisibleState returns the informer's state for the namespaces of a filter, without the data that the viewer may not
// see.
func (i *Informer) VisibleState(f *query.Filter) informer.State {
	now := i.CurrentState(f.Namespaces)
	if f.IsPartial && now.Status.Namespaces == nil && !now.Status.State.IsRefused() {
		now.Status.Namespaces = f.Namespaces
	}
	if f.IsGuest {
		redactStatus(f, &now.Status)
	}
	if f.IsRestricted {
		now.Status.Count, now.Status.Total = nil, nil // These numbers include objects that the viewer may not see.
	}
	return now
}

// redactStatus removes what guests must not see from a status: the names of namespaces (unless the query names them),
// and the reason, which can contain names and numbers. The PublicReason, if not empty, becomes the reason.
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
		// Replace the text of the API server, which contains the name of the service account or user of this program.
		current.Reason = "Glasshouse is not allowed to list these objects."
	case current.State == status.Absent:
	case current.Namespaces != nil:
		current.Reason = "this link includes no other namespaces."
	default:
		current.Reason = ""
	}
}
