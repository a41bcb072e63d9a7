package watch

import (
	"errors"
	"slices"
	"strings"
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
	// Namespaces are those that this covers, where not all that were asked for
	// may be listed. It is sorted, and must not be changed.
	Namespaces []string `json:"namespaces,omitempty"`

	senseless bool // The API server has answered that what it was asked makes no sense.
}

// same reports that there is nothing new to tell.
func (s Status) same(other Status) bool {
	return s.State == other.State && s.Reason == other.Reason && s.Count == other.Count && slices.Equal(s.Namespaces, other.Namespaces)
}

// worse is the less good of two, or what both have in common; the zero Status
// is none.
func worse(a, b Status) Status {
	good := []State{"", Live, Stale, Syncing, Forbidden, Absent, Failed}
	switch n := slices.Index(good, a.State) - slices.Index(good, b.State); {
	case n < 0:
		return b
	case n > 0:
		return a
	}
	if b.Since.After(a.Since) {
		a.Since = b.Since
	}
	if a.Reason != b.Reason {
		a.Reason = strings.TrimSpace(a.Reason + " " + b.Reason)
	}
	if a.Count != nil && b.Count != nil {
		sum := *a.Count + *b.Count
		a.Count = &sum
	}
	return a
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
