package watch

import (
	"encoding/json"
	"slices"
	"strconv"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
)

// A Viewer is the person or program on whose permissions a read happens. The zero Viewer sees nothing.
type Viewer struct {
	Program bool        // The viewer is this program, and sees what the program may see; User is nil.
	User    *authz.User // The viewer sees only what both this user and the program may see.
	Scope   *Scope      // The share link that limits the viewer further; nil for none.
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
		user = v.User.Key()
	}
	scope, _ := json.Marshal(v.Scope) // Encoding strings never fails.
	return strconv.FormatBool(v.Program) + user + string(scope)
}

// canDiscover reports whether the viewer may know that the resource exists. A user who is logged in may know every
// resource that discovery finds, as with the API server itself.
func (v *Viewer) canDiscover(r *resource.Resource) bool {
	if v.Scope != nil {
		return slices.ContainsFunc(v.Scope.Parts, func(p Part) bool { return p.Resource == r.Ref() })
	}
	return v.Program || v.User != nil
}

// PublicDetail returns the detail of the problem that the viewer may read. Guests and unknown viewers must not see what
// the API server sends to this program, or the server's address.
func (v *Viewer) PublicDetail(p *status.Problem) string {
	if p.PublicDetail != "" && (v.Scope != nil || !v.Program && v.User == nil) {
		return p.PublicDetail
	}
	return p.Detail
}

// PublicDetail returns the detail of the problem that the viewer of this access may read.
func (a *Access) PublicDetail(p *status.Problem) string { return a.viewer.PublicDetail(p) }
