package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"glasshouse/internal/watch"
	"glasshouse/internal/web/share"
	"glasshouse/web/templates"
)

// guestLayout returns the template data that only guests (viewers of a share link) see, such as the expiry and note
// of the link.
func (s *Server) guestLayout(g *share.Guest) *templates.Guest {
	parts, _ := json.Marshal(g.Share.Parts) // Cannot fail: strings can always be encoded.
	sharesList := slices.ContainsFunc(g.Share.Parts, func(p watch.Part) bool {
		return p.Name == "" && !isShownWithObject(p.Resource)
	})
	return &templates.Guest{
		Expires: formatTime(g.Share.Expires), Start: g.Share.To, Leave: s.base.At(leavePath), Note: g.Share.Note,
		Parts: string(parts), SingleObject: !sharesList,
	}
}

// isShownWithObject reports whether a resource is logs or events. A share link contains logs and events together with
// an object, and the page of the object shows them.
func isShownWithObject(resource string) bool {
	return strings.HasSuffix(resource, "/log") || strings.HasSuffix(resource, "/events")
}

// isKiosk reports whether a page is requested in kiosk mode (large type without controls, for a wall display).
func isKiosk(r *http.Request) bool { return r.URL.Query().Get("kiosk") == "1" }
