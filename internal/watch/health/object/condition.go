package object

import (
	"cmp"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
)

// Condition is one of status.conditions.
type Condition struct {
	Kind, Status, Reason, Message string // Kind is the value of the member "type".
	ChangedAt                     time.Time
	// UpdatedAt is the lastUpdateTime. Only conditions of a few kinds have it, such as those of a Deployment.
	UpdatedAt time.Time
}

// Conditions returns the conditions in the order of the object.
func (o Object) Conditions() (conditions []Condition) {
	for _, c := range o.Children("status", "conditions") {
		conditions = append(conditions, Condition{
			c.Text("type"), c.Text("status"), c.Text("reason"), c.Text("message"), c.Time("lastTransitionTime"),
			c.Time("lastUpdateTime"),
		})
	}
	return conditions
}

// Condition returns the condition whose type is kind, or the zero Condition.
func (o Object) Condition(kind string) Condition {
	for _, c := range o.Conditions() {
		if c.Kind == kind {
			return c
		}
	}
	return Condition{}
}

// Explaining returns the condition whose message or reason equals the message of a health script. If there is none, it
// returns a condition that summarizes the object (such as Ready), has a reason, and is not True.
func (o Object) Explaining(message string) Condition {
	conditions := o.Conditions()
	for _, c := range conditions {
		if message != "" && (message == c.Message || message == c.Reason) {
			return c
		}
	}
	for _, kind := range []string{"Ready", "Available", "Synced", "Healthy"} {
		for _, c := range conditions {
			if c.Kind == kind && c.Reason != "" && !c.Is("True") {
				return c
			}
		}
	}
	return Condition{}
}

// ConditionNamedBy returns the condition that a message names, such as "Launched=False".
func (o Object) ConditionNamedBy(message string) Condition {
	for _, c := range o.Conditions() {
		if c.Is("False") && c.Message != "" && strings.Contains(message, c.Kind+"=False") {
			return c
		}
	}
	return Condition{}
}

// Is reports whether the condition has a status, such as "True".
func (c Condition) Is(status string) bool { return c.Status == status }

// Explanation returns the reason and the message as one text.
func (c Condition) Explanation() string { return message.Join(c.Reason, c.Message) }

// Suffix returns a colon and the Explanation, or "" if there is no reason and no message.
func (c Condition) Suffix() string {
	if c.Reason == "" && c.Message == "" {
		return ""
	}
	return ": " + c.Explanation()
}

// ShortExplanation returns the message, or the reason if there is no message. It removes the prefixes from the message,
// because they contain no information.
func (c Condition) ShortExplanation(prefixes ...string) string {
	message := c.Message
	for _, prefix := range prefixes {
		message = strings.TrimPrefix(message, prefix)
	}
	return cmp.Or(message, c.Explanation())
}
