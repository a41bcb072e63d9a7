package operator

import (
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	// waitingState matches the state of an object that waits, or that its controller still sets up.
	waitingState = regexp.MustCompile(`(?i)^(?:pending|waiting|creating|provisioning|initializing|unscheduled)$`)
	// stateMember matches the members of a status that contain such a state, such as policyStatus.
	stateMember = regexp.MustCompile(`(?:Phase|State|Status)$`)
	// waitingType matches the type of a condition that is True while the object waits.
	waitingType = regexp.MustCompile(`^(?:Pending|Waiting[A-Za-z]*)$`)
)

// Waiting explains a custom resource that waits for too long, by the problem of another object of its API group to
// which its spec refers. For example, a claim waits for a pool. The message of the resource is often only about its own
// state.
func Waiting(s *subject.Subject) *verdict.Verdict {
	if s.Own.Severity != verdict.None || !isWaiting(s) && !needsLock(s) || !s.IsSettled() || isPaused(s) {
		return nil
	}
	if v := locked(s); v != nil || !isWaiting(s) {
		return v
	}
	candidates := slices.DeleteFunc(referenced(s), func(n neighbor.Neighbor) bool {
		return n.Object == nil || n.ID.Group != s.ID.Group || n.IsOwnedBy(s.Object.UID()) || s.IsDependent(n)
	})
	worst := s.Worst(candidates)
	if worst == nil {
		return nil
	}
	return s.Inherit(worst, verdict.Degraded, "Waits for "+s.Name(worst)+": ")
}

// isWaiting reports whether the status of the subject states that it waits.
func isWaiting(s *subject.Subject) bool {
	status := neighbor.Decode[struct {
		Status map[string]any `json:"status"`
	}](s.Object).Status
	for _, member := range []string{"phase", "state", "status"} {
		if text, ok := status[member].(string); ok {
			return waitingState.MatchString(text) // Other members, such as backupStatus, are then about a part.
		}
	}
	for member, value := range status {
		if text, _ := value.(string); stateMember.MatchString(member) && waitingState.MatchString(text) {
			return true
		}
	}
	return slices.ContainsFunc(neighbor.Conditions(s.Object, metav1.ConditionTrue), func(c metav1.Condition) bool {
		return waitingType.MatchString(c.Type)
	})
}
