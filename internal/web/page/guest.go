package page

import (
	"encoding/json"
	"slices"
	"strings"

	"glasshouse/internal/watch"
	"glasshouse/internal/web/request"
	"glasshouse/internal/web/share"
	"glasshouse/web/templates"
)

// guestLayout returns the template data that only guests (viewers of a share link) see, such as the expiry and note
// of the link.
func (s *Site) guestLayout(g *share.Guest) *templates.Guest {
	parts, _ := json.Marshal(g.Share.Parts)
	sharesList := slices.ContainsFunc(g.Share.Parts, func(p watch.Part) bool {
		return p.Name == "" && !isShownWithObject(p.Resource)
	})
	return &templates.Guest{
		Expires: formatTime(g.Share.Expires), Start: g.Share.To, Leave: s.Base.At(request.LeavePath), Note: g.Share.Note,
		Parts: string(parts), SingleObject: !sharesList,
	}
}

// isShownWithObject reports whether a resource is logs or events. A share link contains these only together with an
// object, and the page of that object shows them.
func isShownWithObject(resource string) bool {
	return strings.HasSuffix(resource, "/log") || strings.HasSuffix(resource, "/events")
}
