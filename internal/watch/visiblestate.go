package watch

import "glasshouse/internal/watch/status"

// visibleState returns the state of the informer for the namespaces of a filter, without the parts that the filter's
// viewer is not permitted to see.
func (i *informer) visibleState(f *filter) informerState {
	now := i.currentState(f.namespaces)
	if f.isPartial && now.status.Namespaces == nil && !now.status.State.IsRefused() {
		now.status.Namespaces = f.namespaces
	}
	if f.isGuest {
		redactStatus(f, &now.status)
	}
	if f.isRestricted {
		now.status.Count, now.status.Total = nil, nil // These numbers include hidden objects.
	}
	return now
}

// redactStatus removes what a share link does not share from the status that its guests (viewers) get: names of
// namespaces, and reasons, which can contain names and numbers.
func redactStatus(f *filter, current *status.Status) {
	if len(f.named) == 0 {
		current.Namespaces = nil
	}
	switch {
	case current.State == status.Failed:
		current.Reason = "It cannot be watched now."
	case current.State.IsRefused():
	case current.Namespaces != nil:
		current.Reason = "this link shows no others."
	default:
		current.Reason = ""
	}
}
