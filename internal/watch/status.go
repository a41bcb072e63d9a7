package watch

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// State says how well a resource is known.
type State string

// The states of a resource. Live alone says that what is shown is what is.
const (
	Syncing   State = "syncing"   // The first list is on its way.
	Live      State = "live"      // Listed, and the watch is open.
	Stale     State = "stale"     // Listed, but the watch is not open.
	Forbidden State = "forbidden" // The API server refuses list or watch.
	Absent    State = "absent"    // The API server does not know the resource.
	Failed    State = "failed"    // Never listed, and the last try failed.
)

// Status is a State with its reason.
type Status struct {
	State  State     `json:"state"`
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"`
	Count  *int      `json:"count,omitempty"` // Objects received, while Syncing.
}

// stateOf tells what an error of list or watch makes of a resource.
func stateOf(err error, synced bool) State {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return Forbidden
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return Absent
	case synced:
		return Stale
	}
	return Failed
}

// reasonOf is an error in words that a person can act on; the API server's own
// message where there is one.
func reasonOf(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}
