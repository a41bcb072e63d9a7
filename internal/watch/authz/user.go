package authz

import (
	"encoding/json"
	"maps"
	"slices"
)

// A User is the subject of access reviews, with every field that an authorizer of the API server can use.
type User struct {
	Name   string              `json:"name"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Key returns a text that identifies a user by all fields. The order of groups does not matter.
func (u *User) Key() string {
	sorted := User{u.Name, u.UID, slices.Compact(slices.Sorted(slices.Values(u.Groups))), maps.Clone(u.Extra)}
	for name, values := range sorted.Extra {
		sorted.Extra[name] = slices.Sorted(slices.Values(values))
	}
	text, _ := json.Marshal(sorted)
	return string(text)
}

// Same reports whether two users have equal fields, and therefore equal permissions.
func (u *User) Same(other *User) bool { return u.Key() == other.Key() }
