package query

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// parseRegarding parses the name of a regarded object, such as "pod.core/web-1". An empty group means any group.
func parseRegarding(text string) (kind, group, name string) {
	kind, name, _ = strings.Cut(text, "/")
	kind, group, _ = strings.Cut(kind, ".")
	return kind, group, name
}

// IsValidRegarding reports whether the text is valid as Part.Regarding: r is the resource events, and the text names
// one object.
func IsValidRegarding(r *resource.Resource, text string) bool {
	kind, _, name := parseRegarding(text)
	return r.Resource == "events" && kind != "" && kind == strings.ToLower(kind) && !strings.Contains(text, "./") &&
		name != "" && CheckName(name) == nil
}

// matchesRegarding reports whether the event o regards the object f.regarding. Kind and name must be equal.
func (f *Filter) matchesRegarding(o *compact.Object) bool {
	kind, group, name := parseRegarding(f.regarding)
	objectKind, objectName, _ := strings.Cut(f.regardedObject(o), "/")
	return objectKind == kind && objectName == name && (group == "" || group == regardedGroup(o))
}

// regardedGroup returns the API group of the object that an event regards: "core" for the core group.
func regardedGroup(event *compact.Object) string {
	var parsed struct {
		InvolvedObject, Regarding struct{ APIVersion string } // The names of the member in core/v1 and events.k8s.io/v1.
	}
	// Read the group from the object, because no column contains the group.
	text, err := event.JSON()
	if err != nil || json.Unmarshal(text, &parsed) != nil {
		return ""
	}
	group, _, hasGroup := strings.Cut(cmp.Or(parsed.InvolvedObject.APIVersion, parsed.Regarding.APIVersion), "/")
	if !hasGroup {
		return "core"
	}
	return group
}
