package watch

import (
	"cmp"
	"encoding/json"
	"strings"

	"glasshouse/internal/watch/wire"
)

// readAbout reads what a Part's events are about: an object of a group, "core" for that
// of pods; or, where that is empty, of any.
func readAbout(text string) (kind, group, name string) {
	kind, name, _ = strings.Cut(text, "/")
	kind, group, _ = strings.Cut(kind, ".")
	return kind, group, name
}

// canBeAbout reports whether some object of a resource could be about something.
func canBeAbout(r *Resource, text string) bool {
	kind, _, name := readAbout(text)
	return r.Resource == "events" && kind != "" && kind == strings.ToLower(kind) && !strings.Contains(text, "./") && name != "" && checkName(name) == nil
}

// isAbout compares the whole of what an event says it is about: "pod/web" is not
// "pod/web-1". What does not say it is about nothing.
func (f *filter) isAbout(o *wire.Object) bool {
	kind, group, name := readAbout(f.about)
	itsKind, itsName, _ := strings.Cut(f.objectOf(o), "/")
	return itsKind == kind && itsName == name && (group == "" || group == groupOf(o))
}

// groupOf is the API group of what an event is about, which no column shows; empty
// where its text cannot be read.
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
