package watch

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// A Viewer is somebody who looks. The zero Viewer sees nothing.
type Viewer struct {
	Program bool   // Sees what the program itself may see; User is nil.
	User    *User  // Sees what this user may see, of what the program may.
	Scope   *Scope // And no more than this, where it is not nil.
}

// A User is whom the API server is asked about, as it knows users itself: all of
// it may decide what they may do.
type User struct {
	Name   string              `json:"name"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// key tells users apart: it is the same for those alone of whom all is the same.
func (u *User) key() string {
	sorted := User{u.Name, u.UID, slices.Compact(slices.Sorted(slices.Values(u.Groups))), maps.Clone(u.Extra)}
	for name, values := range sorted.Extra {
		sorted.Extra[name] = slices.Sorted(slices.Values(values))
	}
	text, _ := json.Marshal(sorted) // Strings always encode, and maps by their sorted keys.
	return string(text)
}

// A Scope is what a Viewer may see at most, whatever else they might: what was
// shared. Nothing in it is nothing to be seen.
type Scope struct {
	Parts []Part `json:"parts"`
}

// A Part of a Scope is one resource, all of it or some.
type Part struct {
	Resource   string   `json:"resource"`             // Its ref, as "core/v1/pods".
	Namespaces []string `json:"namespaces,omitempty"` // Empty for all.
	Labels     string   `json:"labels,omitempty"`     // A label selector in kubectl's syntax.
	Name       string   `json:"name,omitempty"`       // One object alone, of one namespace where it is namespaced.
	Text       string   `json:"q,omitempty"`          // Words that a row must have, as in a Query.
	About      string   `json:"about,omitempty"`      // Of events alone: the object that they must be about: "pod.core/web-1"; of any group, "pod/web-1".
}

// Key tells viewers apart: it is the same for those alone who may see the same.
func (v *Viewer) Key() string {
	var user string
	if v.User != nil {
		user = v.User.key()
	}
	scope, _ := json.Marshal(v.Scope) // Strings always encode.
	return strconv.FormatBool(v.Program) + user + string(scope)
}

// mayKnow reports whether the viewer may know that there is such a resource: who is
// logged in may know all of discovery, as with the API server itself.
func (v *Viewer) mayKnow(r *Resource) bool {
	if v.Scope != nil {
		return slices.ContainsFunc(v.Scope.Parts, func(p Part) bool { return p.Resource == r.Ref() })
	}
	return v.Program || v.User != nil
}
