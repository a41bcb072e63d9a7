package authz

import (
	"encoding/json"
	"maps"
	"slices"
)

// A User is the subject of access reviews, with the fields that the API server has for a user. Authorizers may use all
// of them.
type User struct {
	Name   string              `json:"name"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Key returns a text that identifies the user. Two users have the same key only if all their fields are equal; the
// order of groups and of values does not matter.
func (u *User) Key() string {
	sorted := User{u.Name, u.UID, slices.Compact(slices.Sorted(slices.Values(u.Groups))), maps.Clone(u.Extra)}
	for name, values := range sorted.Extra {
		sorted.Extra[name] = slices.Sorted(slices.Values(values))
	}
	text, _ := json.Marshal(sorted) // Encoding strings never fails, and maps are encoded in the order of their keys.
	return string(text)
}

// Same reports whether two users are equal in everything that decides what they can do.
func (u *User) Same(other *User) bool { return u.Key() == other.Key() }
