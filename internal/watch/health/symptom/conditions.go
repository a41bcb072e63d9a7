package symptom

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/intent"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// maxItems is the maximum number of items that are read from a list in a status.
const maxItems = 100

// members is a decoded JSON object.
type members map[string]any

func (m members) text(path ...string) string {
	value := any(map[string]any(m))
	for _, name := range path {
		next, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = next[name]
	}
	text, _ := value.(string)
	return text
}

// time returns the time in a member, or the zero Time.
func (m members) time(name string) time.Time {
	at, _ := time.Parse(time.RFC3339, m.text(name))
	return at
}

func (m members) child(name string) members {
	child, _ := m[name].(map[string]any)
	return child
}

func (m members) children(name string) (children []members) {
	items, _ := m[name].([]any)
	for _, item := range items[:min(len(items), maxItems)] {
		if child, ok := item.(map[string]any); ok {
			children = append(children, child)
		}
	}
	return children
}

type condition struct {
	of                            string // The part of the object to which the condition applies, such as a listener.
	kind, status, reason, message string
	since                         time.Time
}

func (c *condition) is(status string) bool { return c.status == status }

// isBadTrue reports whether the condition is True, and its name means a bad state.
func (c *condition) isBadTrue() bool {
	return c.is("True") && (wording.IsBadIfTrue(c.kind) || c.isForced()) && !c.isEndedByPerson()
}

// isEndedByPerson reports whether a person ended the work of the object.
func (c *condition) isEndedByPerson() bool { return intent.IsEndedByPerson(c.reason, c.message) }

// isPartial reports whether a condition such as PartiallyReady means that only a part works, because of an error.
func (c *condition) isPartial() bool {
	return c.is("True") && strings.HasPrefix(c.kind, "Partially") && wording.NamesError(c.message)
}

// isFalse reports whether the condition is False, and its name does not mean a bad state.
func (c *condition) isFalse() bool {
	return c.is("False") && !wording.IsBadIfTrue(c.kind) && !wording.IsCalmReason(c.reason) &&
		!c.isEndedByPerson() && !c.isIdle()
}

// hasUnknownEnd reports whether an error prevents a step, and the controller does not know whether an earlier attempt
// has completed it. For example, the condition Installed is Unknown with the reason Failed.
func (c *condition) hasUnknownEnd() bool {
	return c.is("Unknown") && wording.IsAchievement(c.kind) && wording.IsFailedReason(c.reason) &&
		wording.NamesError(c.message)
}

func (c *condition) text() string {
	text := c.kind
	if c.of != "" {
		text = c.of + ": " + c.kind
	}
	if c.message == "" {
		text += " is " + c.status // Without a message, add the status: the name alone can seem good.
	}
	if explanation := cmp.Or(c.message, c.reason); explanation != "" {
		text += ": " + explanation
	}
	return text
}

// conditionsOf returns the conditions of one part of an object. It omits conditions that were observed at an older
// generation of the object.
func conditionsOf(o members, of string, generation int64) (conditions []condition) {
	for _, c := range o.children("conditions") {
		if observed, ok := c["observedGeneration"].(int64); ok && observed < generation {
			continue
		}
		since, _ := time.Parse(time.RFC3339, c.text("lastTransitionTime"))
		conditions = append(conditions, condition{
			of, c.text("type"), c.text("status"), c.text("reason"), strings.TrimSpace(c.text("message")), since,
		})
	}
	return conditions
}

// partConditions returns the conditions of the parts of an object, such as the listeners of a Gateway. The parts are
// the items of the lists in the status with the given names, or of all lists and maps if no name is given.
func partConditions(status members, generation int64, lists ...string) (conditions []condition) {
	isAll := len(lists) == 0
	if isAll {
		for name := range status {
			lists = append(lists, name)
		}
		slices.Sort(lists)
	}
	for _, list := range lists {
		if list == "conditions" {
			continue
		}
		for _, item := range status.children(list) {
			name := cmp.Or(
				item.text("name"), item.text("parentRef", "name"), item.text("ancestorRef", "name"), item.text("host"),
			)
			of := singular(list)
			if name != "" {
				of += " " + name
			}
			conditions = append(conditions, conditionsOf(item, of, generation)...)
		}
		if isAll {
			conditions = append(conditions, mapConditions(status, list, generation, func(string) bool { return true })...)
		}
	}
	return conditions
}

// mapConditions returns the conditions of the parts in a map of the status. The parameter "of" is the name of this map.
// Only parts whose names the function include accepts count. For example, status.diskStatus: {ssd: {conditions: []}}
// contains the conditions of the part "disk ssd".
func mapConditions(status members, of string, generation int64, include func(string) bool) (conditions []condition) {
	parts := status.child(of)
	names := slices.Sorted(maps.Keys(parts))
	for _, name := range names[:min(len(names), maxItems)] {
		if part := parts.child(name); part["conditions"] != nil && include(name) {
			kind := singular(strings.TrimSuffix(of, "Status"))
			conditions = append(conditions, conditionsOf(part, kind+" "+name, generation)...)
		}
	}
	return conditions
}

// singular returns the word for one part in a list or a map, such as listener for listeners.
func singular(list string) string {
	if strings.HasSuffix(list, "ss") {
		return list
	}
	return strings.TrimSuffix(list, "s")
}
