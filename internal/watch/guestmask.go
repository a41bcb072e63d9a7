package watch

import (
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/redact"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/stream"
)

// isMasked reports whether values are masked for the viewer, because the viewer is a guest: a viewer of a share link.
// A link never shares the values of ConfigMaps, or of the environment variables of containers.
func (v *Viewer) isMasked() bool { return v.Scope != nil }

// scope returns the scope (what to list and watch) of the informer from which the viewer reads the resource. Guests
// (viewers of share links) have a separate informer for custom resources and aggregated APIs, whose cells can show
// any value. That informer masks values before it caches them, so no row, sort order or search can reveal them.
func (a *Access) scope(r *resource.Resource, fields string) listwatch.Scope {
	return listwatch.Scope{
		Resource:    r.GVR(),
		Fields:      fields,
		GuestMasked: a.viewer.isMasked() && !listwatch.IsBuiltIn(r.Group),
	}
}

// maskText masks sensitive values in the text of an object if the viewer is a guest. If err is not nil, it returns
// text and err unchanged.
func (a *Access) maskText(r *resource.Resource, text []byte, err error) ([]byte, error) {
	a.Grow(max(0, int64(len(text))-stream.LargestText))
	if err != nil || !a.viewer.isMasked() {
		return text, err
	}
	return redact.NewGuestMask(r.Group, r.Resource).Object(nil, text)
}

// guestMask returns the mask that hides sensitive values of the resource from guests (viewers of share links). It
// returns nil if the viewer is not a guest.
func (a *Access) guestMask(r *resource.Resource) *listwatch.GuestMask {
	if !a.viewer.isMasked() {
		return nil
	}
	return listwatch.NewGuestMask(r.Group, r.Resource)
}
