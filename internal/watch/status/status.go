// Package status describes how current the data of a resource is, and defines the errors that viewers see.
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

// State describes whether the data of a resource is up to date, and if not, why.
type State string

// The values of State. The data is up to date only in the state Live.
const (
	Syncing   State = "syncing" // first list in progress
	Live      State = "live"    // list complete, watch open
	Stale     State = "stale"   // list complete, watch not open
	Forbidden State = "forbidden"
	Absent    State = "absent"
	Failed    State = "failed" // list failed, or too large for the memory
)

// IsRefused reports whether the API server has rejected the list. If so, all rows must be removed.
func (s State) IsRefused() bool { return s == Forbidden || s == Absent }

// Status is a State and its reason.
type Status struct {
	State  State     `json:"state"`
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"`
	Count  *int      `json:"count,omitempty"` // objects received, while Syncing
	Total  *int      `json:"total,omitempty"` // approximate number of all objects, while Syncing; nil if unknown
	// Namespaces lists the namespaces to which the status applies, in ascending order. It is nil if all namespaces can
	// be listed together. Callers must not change it.
	Namespaces []string `json:"namespaces,omitempty"`

	// PublicReason is the Reason for guests, without the API server's messages. If it is empty, they get Reason.
	PublicReason     string `json:"-"`
	IsInvalidRequest bool   `json:"-"`
}

// Same reports whether two statuses are equal for readers. It ignores Since, PublicReason and IsInvalidRequest.
func (s Status) Same(other Status) bool {
	return s.State == other.State && s.Reason == other.Reason &&
		equalCounts(s.Count, other.Count) && equalCounts(s.Total, other.Total) && slices.Equal(s.Namespaces, other.Namespaces)
}

func equalCounts(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

const maxReasons = 3

// Merged is the common status of several namespaces. Its state is the worst state of a namespace. Its Since is the
// latest time at which a namespace got this state, and its reasons are those of all namespaces in this state.
type Merged struct {
	Status

	reasons []string
}

// Add merges another status into s.
func (m *Merged) Add(other Status) {
	worstLast := []State{"", Live, Stale, Syncing, Forbidden, Absent, Failed}
	switch n := slices.Index(worstLast, m.State) - slices.Index(worstLast, other.State); {
	case n > 0:
		return
	case n < 0:
		*m = Merged{Status: Status{State: other.State}}
	}
	m.IsInvalidRequest = m.IsInvalidRequest || other.IsInvalidRequest
	if other.Since.After(m.Since) {
		m.Since = other.Since
	}
	if other.Reason != "" && !slices.Contains(m.reasons, other.Reason) {
		m.reasons = append(m.reasons, other.Reason)
	}
	if other.Count != nil {
		count := *other.Count
		if m.Count != nil {
			count += *m.Count
		}
		m.Count = &count
	}
}

// Result returns the common status. Its text contains at most maxReasons reasons, and the number of further reasons.
func (m *Merged) Result() Status {
	m.Reason = strings.Join(m.reasons[:min(len(m.reasons), maxReasons)], "; ")
	if more := len(m.reasons) - maxReasons; more > 0 {
		m.Reason += fmt.Sprintf("; and %d more", more)
	}
	return m.Status
}

// StateOf returns the state after a list or watch failed. synced means that an earlier list was successful.
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

// ReasonOf explains an error to the person who can correct its cause. It omits parts that can contain stored data.
func ReasonOf(err error) string {
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		err = urlErr.Err // Omit the URL: it does not help, and differs between requests.
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
