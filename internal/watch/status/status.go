// Package status describes how current the data of a resource is, and the errors that viewers see.
package status

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// State describes how current the data of a resource is.
type State string

// The states of a resource. Only Live means that the data is up to date.
const (
	Syncing   State = "syncing"   // The first list is in progress.
	Live      State = "live"      // Listed, and the watch is open.
	Stale     State = "stale"     // Listed, but the watch is not open.
	Forbidden State = "forbidden" // The API server refuses the list.
	Absent    State = "absent"    // The API server does not know the resource.
	Failed    State = "failed"    // Not listed: the last try failed, or the list does not fit into memory.
)

// IsRefused reports whether the API server rejected the list of the resource: Forbidden or Absent. The rows of the
// resource are then removed.
func (s State) IsRefused() bool { return s == Forbidden || s == Absent }

// Status is a State with its reason.
type Status struct {
	State  State     `json:"state"`
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"`
	Count  *int      `json:"count,omitempty"` // Objects received so far, while Syncing.
	Total  *int      `json:"total,omitempty"` // The approximate number of objects, while Syncing; nil if unknown.
	// Namespaces contains the namespaces that the status covers. It is nil if all requested namespaces may be listed.
	// It is sorted, and must not be changed.
	Namespaces []string `json:"namespaces,omitempty"`

	IsInvalidRequest bool `json:"-"` // The API server has responded that the request is invalid.
}

// Same reports whether two statuses are equal for readers: Since is ignored.
func (s Status) Same(other Status) bool {
	return s.State == other.State && s.Reason == other.Reason &&
		equalCounts(s.Count, other.Count) && equalCounts(s.Total, other.Total) && slices.Equal(s.Namespaces, other.Namespaces)
}

func equalCounts(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// maxReasons is the maximum number of reasons, of several namespaces, that a status contains.
const maxReasons = 3

// Merged merges the statuses of several namespaces into one: the worst of their states, the latest time at which
// that state began, and the reasons.
type Merged struct {
	Status

	reasons []string
}

// Add merges one more status.
func (s *Merged) Add(other Status) {
	worstLast := []State{"", Live, Stale, Syncing, Forbidden, Absent, Failed}
	switch n := slices.Index(worstLast, s.State) - slices.Index(worstLast, other.State); {
	case n > 0:
		return
	case n < 0:
		*s = Merged{Status: Status{State: other.State}}
	}
	s.IsInvalidRequest = s.IsInvalidRequest || other.IsInvalidRequest
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

// Result returns the merged status. Of the reasons, it names the first maxReasons.
func (s *Merged) Result() Status {
	s.Reason = strings.Join(s.reasons[:min(len(s.reasons), maxReasons)], "; ")
	if more := len(s.reasons) - maxReasons; more > 0 {
		s.Reason += fmt.Sprintf("; and %d more", more)
	}
	return s.Status
}

// StateOf returns the state of a resource after an error of its list or watch.
func StateOf(err error, synced bool) State {
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

// ReasonOf describes an error in words for the person who can correct its cause. It uses the API server's own message
// if there is one, except for parts that could reveal stored data.
func ReasonOf(err error) string {
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		err = urlErr.Err // The URL does not help the person, and differs each time.
	}
	if apierrors.IsUnauthorized(err) {
		return "The API server does not accept the credentials of this program: " +
			"log in to the cluster again."
	}
	var apiStatus apierrors.APIStatus
	if errors.As(err, &apiStatus) && apiStatus.Status().Message != "" {
		status := apiStatus.Status()
		return publicDetail(&status)
	}
	return truncate(err.Error())
}
