package query

import (
	"cmp"
	"encoding/json"
	"strings"

	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/resource"
)

// parseRegarding parses a text that names the object that events must regard, such as "pod.core/web-1" (see
// Part.Regarding). If the text contains no group, the returned group is empty, which means any group.
func parseRegarding(text string) (kind, group, name string) {
	kind, name, _ = strings.Cut(text, "/")
	kind, group, _ = strings.Cut(kind, ".")
	return kind, group, name
}

// IsValidRegarding reports whether the text can be a Part.Regarding, the object that shared events must regard. The
// resource r must be events, and the text must name one object.
func IsValidRegarding(r *resource.Resource, text string) bool {
	kind, _, name := parseRegarding(text)
	return r.Resource == "events" && kind != "" && kind == strings.ToLower(kind) && !strings.Contains(text, "./") &&
		name != "" && CheckName(name) == nil
}

// matchesRegarding reports whether the event o regards the object that f.regarding names. It compares complete names,
// so "pod/web" does not match "pod/web-1". An event without a reference to an object never matches.
func (f *Filter) matchesRegarding(o *listwatch.Object) bool {
	kind, group, name := parseRegarding(f.regarding)
	objectKind, objectName, _ := strings.Cut(f.regardedObject(o), "/")
	return objectKind == kind && objectName == name && (group == "" || group == regardedGroup(o))
}

// regardedGroup returns the API group of the object that an event regards, with "core" for the core group. It reads
// the event's JSON, because no column contains the group. It returns "" if the event cannot be parsed.
func regardedGroup(event *listwatch.Object) string {
	var parsed struct {
		InvolvedObject, Regarding struct{ APIVersion string } // The names in core/v1 and in events.k8s.io/v1.
	}
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
