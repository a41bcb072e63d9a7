package watch

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// A Viewer is the person or program on whose permissions a read happens. The zero Viewer sees nothing.
type Viewer struct {
	Program bool   // The viewer is this program, and sees what the program may see; User is nil.
	User    *User  // The viewer sees only what both this user and the program may see.
	Scope   *Scope // The share link that limits the viewer further; nil for none.
}

// A User is the subject of access reviews, with the fields that the API server has for a user. Authorizers may use all
// of them.
type User struct {
	Name   string              `json:"name"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// key returns a text that identifies the user. Two users have the same key only if all their fields are equal; the
// order of groups and of values does not matter.
func (u *User) key() string {
	sorted := User{u.Name, u.UID, slices.Compact(slices.Sorted(slices.Values(u.Groups))), maps.Clone(u.Extra)}
	for name, values := range sorted.Extra {
		sorted.Extra[name] = slices.Sorted(slices.Values(values))
	}
	text, _ := json.Marshal(sorted) // Encoding strings never fails, and maps are encoded in the order of their keys.
	return string(text)
}

// A Scope is what a share link shares. Its Viewer may not see anything else, regardless of other permissions. An empty
// Scope shares nothing.
type Scope struct {
	Parts []Part `json:"parts"`
}

// A Part of a Scope shares one resource: all of its objects, or some.
type Part struct {
	Resource   string   `json:"resource"`             // Its ref, such as "core/v1/pods".
	Namespaces []string `json:"namespaces,omitempty"` // Empty for all.
	Labels     string   `json:"labels,omitempty"`     // A label selector in kubectl's syntax.
	Name       string   `json:"name,omitempty"`       // One object only; if namespaced, in exactly one namespace.
	Text       string   `json:"q,omitempty"`          // Words that a row must contain, as in a Query.
	// Regarding applies to events only: the object that they must regard, such as "pod.core/web-1", or "pod/web-1" for any
	// group.
	Regarding string `json:"about,omitempty"`
}

// Key returns a text that identifies the viewer. Two viewers have the same key only if they may see the same objects.
func (v *Viewer) Key() string {
	var user string
	if v.User != nil {
		user = v.User.key()
	}
	scope, _ := json.Marshal(v.Scope) // Encoding strings never fails.
	return strconv.FormatBool(v.Program) + user + string(scope)
}

// canDiscover reports whether the viewer may know that the resource exists. A user who is logged in may know every resource
// that discovery finds, as with the API server itself.
func (v *Viewer) canDiscover(r *Resource) bool {
	if v.Scope != nil {
		return slices.ContainsFunc(v.Scope.Parts, func(p Part) bool { return p.Resource == r.Ref() })
	}
	return v.Program || v.User != nil
}
