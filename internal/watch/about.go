package watch

import (
	"cmp"
	"encoding/json"
	"strings"

	"glasshouse/internal/watch/wire"
)

// readAbout parses text in the form of Part.About, which names the object that events must regard, such as
// "pod.core/web-1". If text names no group, group is empty and matches any.
func readAbout(text string) (kind, group, name string) {
	kind, name, _ = strings.Cut(text, "/")
	kind, group, _ = strings.Cut(kind, ".")
	return kind, group, name
}

// canBeAbout reports whether text is a valid Part.About for r: r must be the resource of events, and text must name one
// object.
func canBeAbout(r *Resource, text string) bool {
	kind, _, name := readAbout(text)
	return r.Resource == "events" && kind != "" && kind == strings.ToLower(kind) && !strings.Contains(text, "./") &&
		name != "" && checkName(name) == nil
}

// isAbout reports whether the event o regards the object in f.about. It compares complete names: "pod/web" does not
// match "pod/web-1". An event without a reference to an object never matches.
func (f *filter) isAbout(o *wire.Object) bool {
	kind, group, name := readAbout(f.about)
	itsKind, itsName, _ := strings.Cut(f.objectOf(o), "/")
	return itsKind == kind && itsName == name && (group == "" || group == groupOf(o))
}

// groupOf returns the API group of the object that an event regards. No column contains the group, so groupOf reads it
// from the event's JSON. It returns "" if the event cannot be parsed.
func groupOf(event *wire.Object) string {
	var said struct {
		InvolvedObject, Regarding struct{ APIVersion string } // Its name in core/v1, and in events.k8s.io/v1.
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
