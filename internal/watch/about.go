package watch

import (
	"cmp"
	"encoding/json"
	"strings"

	"glasshouse/internal/watch/wire"
)

// readAbout parses the object that a Part's events must regard. The group is "core" for pods; an empty group matches
// any.
func readAbout(text string) (kind, group, name string) {
	kind, name, _ = strings.Cut(text, "/")
	kind, group, _ = strings.Cut(kind, ".")
	return kind, group, name
}

// canBeAbout reports whether r is the resource of events and text names an object.
func canBeAbout(r *Resource, text string) bool {
	kind, _, name := readAbout(text)
	return r.Resource == "events" && kind != "" && kind == strings.ToLower(kind) && !strings.Contains(text, "./") &&
		name != "" && checkName(name) == nil
}

// isAbout compares the complete reference of an event: "pod/web" does not match "pod/web-1". An event without a
// reference matches nothing.
func (f *filter) isAbout(o *wire.Object) bool {
	kind, group, name := readAbout(f.about)
	itsKind, itsName, _ := strings.Cut(f.objectOf(o), "/")
	return itsKind == kind && itsName == name && (group == "" || group == groupOf(o))
}

// groupOf returns the API group of the object that an event regards, which no column shows. It returns "" if the event
// cannot be parsed.
func groupOf(event *wire.Object) string {
	var said struct {
		InvolvedObject, Regarding struct{ APIVersion string } // In core/v1, and in events.k8s.io/v1.
	}
	text, err := event.JSON()
	if err != nil || json.Unmarshal(text, &said) != nil {
		return ""
	}
	group, _, named := strings.Cut(cmp.Or(said.InvolvedObject.APIVersion, said.Regarding.APIVersion), "/")
	if !named {
		return "core"
	}
	return group
}
