package watch

import (
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/redact"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/stream"
)

// isMasked reports whether values are masked: a share link never shares values of ConfigMaps or of environment
// variables.
func (v *Viewer) isMasked() bool { return v.Scope != nil }

// scope returns the scope of the informer from which the viewer reads the resource.
func (a *Access) scope(r *resource.Resource, fields string) listwatch.Scope {
	return listwatch.Scope{
		Resource: r.GVR(),
		Fields:   fields,
		// Cells of custom resources can show any value, so guests get a masked cache.
		GuestMasked: a.viewer.isMasked() && !listwatch.IsBuiltIn(r.Group),
	}
}

// maskText masks sensitive values in the text of an object if the viewer is a guest and err is nil.
func (a *Access) maskText(r *resource.Resource, text []byte, err error) ([]byte, error) {
	a.Grow(max(0, int64(len(text))-stream.LargestText))
	if err != nil || !a.viewer.isMasked() {
		return text, err
	}
	return redact.NewGuestMask(r.Group, r.Resource).Object(nil, text)
}

// guestMask returns the mask that hides sensitive values of the resource from guests, or nil for other viewers.
func (a *Access) guestMask(r *resource.Resource) *listwatch.GuestMask {
	if !a.viewer.isMasked() {
		return nil
	}
	return listwatch.NewGuestMask(r.Group, r.Resource)
}
