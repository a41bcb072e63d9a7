package permit

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// A Viewer is the person or program with whose permissions objects are read. The zero Viewer sees nothing.
type Viewer struct {
	Program bool        // The viewer is this program and has its permissions; User is nil.
	User    *authz.User // The viewer sees only what both this user and the program are allowed to see.
	Scope   *Scope      // What the share link of the viewer shares; the viewer sees nothing else. nil without a link.
}

// A Scope is what a share link shares. Viewers of the link see nothing else. An empty Scope shares nothing.
type Scope struct {
	Parts []Part `json:"parts"`
}

// A Part of a Scope shares objects of one resource. An object must match all fields of the Part.
type Part struct {
	Resource   string   `json:"resource"`             // The ref of the resource, such as "core/v1/pods".
	Namespaces []string `json:"namespaces,omitempty"` // The namespaces to share; empty for all.
	Labels     string   `json:"labels,omitempty"`     // A label selector in kubectl's syntax; empty for all.
	// Name selects one object; empty for all. With a Name, a Part of a namespaced resource needs exactly one namespace.
	Name string `json:"name,omitempty"`
	Text string `json:"q,omitempty"` // Words that a row must contain, as in Query.Text.
	// Regarding applies only to events: an event must regard this object. "pod.core/web-1" names the API group;
	// "pod/web-1" means any group.
	Regarding string `json:"about,omitempty"`
}

// Key returns a text that identifies the viewer. Viewers with the same key are allowed to see the same objects.
func (v *Viewer) Key() string {
	var user string
	if v.User != nil {
		user = v.User.Key()
	}
	scope, _ := json.Marshal(v.Scope) // Encoding strings never fails.
	return strconv.FormatBool(v.Program) + user + string(scope)
}

// Owner returns the owner to whose quotas the viewer's informers and rankings (sorted lists of rows) count.
func (v *Viewer) Owner() informer.Owner {
	if v.User == nil && v.Scope == nil {
		return informer.Owner{}
	}
	return informer.Owner{Hash: sha256.Sum256([]byte(v.Key())), IsGuest: v.Scope != nil}
}

// CanDiscover reports whether the viewer may know that r exists. As in Kubernetes, users may know all resources.
func (v *Viewer) CanDiscover(r *resource.Resource) bool {
	if v.Scope != nil {
		return slices.ContainsFunc(v.Scope.Parts, func(p Part) bool { return p.Resource == r.Ref() })
	}
	return v.Program || v.User != nil
}

// PublicDetail returns the detail that the viewer may read. Guests and unknown viewers must not see the API server's
// messages.
func (v *Viewer) PublicDetail(p *status.Problem) string {
	if p.PublicDetail != "" && (v.Scope != nil || !v.Program && v.User == nil) {
		return p.PublicDetail
	}
	return p.Detail
}

// IsMasked reports whether values are masked: a share link never shares values of ConfigMaps or of environment
// variables.
func (v *Viewer) IsMasked() bool { return v.Scope != nil }

// InformerScope returns the scope of the informer from which the viewer reads the resource.
func (v *Viewer) InformerScope(r *resource.Resource, fields string) listwatch.Scope {
	return listwatch.Scope{
		Resource: r.GVR(),
		Fields:   fields,
		// Cells of custom resources can contain sensitive values, so guests use their own cache, with masked cells.
		GuestMasked: v.IsMasked() && !resource.IsBuiltIn(r.Group),
	}
}

// GuestMask returns the mask that hides sensitive values of the resource from guests, or nil for other viewers.
func (v *Viewer) GuestMask(r *resource.Resource) *compact.GuestMask {
	if !v.IsMasked() {
		return nil
	}
	return compact.NewGuestMask(r.Group, r.Resource)
}
