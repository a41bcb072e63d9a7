package watch

import (
	"errors"
	"fmt"
	"net/url"
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

// refused reports whether the API server would not list it: what was held goes.
func (s State) refused() bool { return s == Forbidden || s == Absent }

// Status is a State with its reason.
type Status struct {
	State  State     `json:"state"`
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"`
	Count  *int      `json:"count,omitempty"` // Objects received, while Syncing,
	Total  *int      `json:"total,omitempty"` // of about so many, where that is known.
	// Namespaces are those that this covers, where not all that were asked for
	// may be listed. It is sorted, and must not be changed.
	Namespaces []string `json:"namespaces,omitempty"`

	senseless bool // The API server has answered that what it was asked makes no sense.
}

// same reports that there is nothing new to tell.
func (s Status) same(other Status) bool {
	return s.State == other.State && s.Reason == other.Reason && equal(s.Count, other.Count) && equal(s.Total, other.Total) && slices.Equal(s.Namespaces, other.Namespaces)
}

func equal(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// maxReasons is how many reasons of several namespaces are told.
const maxReasons = 3

// sum is what several namespaces tell together: the least good of their states,
// when it began for the last of them, and why.
type sum struct {
	Status

	reasons []string
}

func (s *sum) add(other Status) {
	good := []State{"", Live, Stale, Syncing, Forbidden, Absent, Failed}
	switch n := slices.Index(good, s.State) - slices.Index(good, other.State); {
	case n > 0:
		return
	case n < 0:
		*s = sum{Status: Status{State: other.State}}
	}
	s.senseless = s.senseless || other.senseless
	if other.Since.After(s.Since) {
		s.Since = other.Since
	}
	if other.Reason != "" && !slices.Contains(s.reasons, other.Reason) {
		s.reasons = append(s.reasons, other.Reason)
	}
	if other.Count != nil {
		count := *other.Count
		if s.Count != nil {
			count += *s.Count
		}
		s.Count = &count
	}
}

func (s *sum) status() Status {
	s.Reason = strings.Join(s.reasons[:min(len(s.reasons), maxReasons)], "; ")
	if more := len(s.reasons) - maxReasons; more > 0 {
		s.Reason += fmt.Sprintf("; and %d more", more)
	}
	return s.Status
}

// stateOf tells what an error of list or watch makes of a resource.
func stateOf(err error, synced bool) State {
	switch {
	case apierrors.IsForbidden(err):
		return Forbidden
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return Absent
	case synced:
		return Stale
	}
	return Failed
}

// reasonOf is an error in words that a person can act on; the API server's own
// message where there is one, as far as it tells nothing of what is stored.
func reasonOf(err error) string {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // Its address is of no use, and another each time.
	}
	if apierrors.IsUnauthorized(err) {
		return "The API server does not accept the credentials of this program any more, or at all: log in to the cluster anew."
	}
	var sent apierrors.APIStatus
	if errors.As(err, &sent) && sent.Status().Message != "" {
		status := sent.Status()
		return wordsOf(&status)
	}
	return bounded(err.Error())
}
